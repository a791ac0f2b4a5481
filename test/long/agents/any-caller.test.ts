// Everything in test/agents/any-caller.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../agents/any-caller.test.ts'
