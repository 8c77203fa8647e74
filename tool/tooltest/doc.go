// Package tooltest is the suite that every tool passes, Handrail's own and a
// stranger's. One call in a test holds a tool against the promises that its
// interface makes:
//
//	func TestWeather(t *testing.T) {
//		tooltest.Run(t, weather.Tool(), tooltest.Options{
//			Examples: []tooltest.Example{
//				{Args: `{"city":"Turin"}`},
//				{Args: `{"city":"Atlantis"}`, Code: tool.CodeFailed},
//			},
//		})
//	}
//
// It really runs the tool: with the examples, with arguments that its schema
// refuses, several times at once where it is declared safe, and under a
// context that is already cancelled. Give it a directory of its own
// ([Options.Dir]) and it also sees whether something was changed that should
// not have been. Run the test with -race.
package tooltest
