package main

import "fmt"

// Greet says hello.
func Greet(name string) string { return "Hello, " + name }

func main() { fmt.Println(Greet("world")) }
