package process

// markName is the variable by which the processes of a command are told from
// others. Its value names the process that started the command, so that what
// outlived its owner can be recognised, and the command.
const markName = "HANDRAIL_COMMAND"
