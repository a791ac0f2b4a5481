// Everything in test/agent/any-caller.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../agent/any-caller.test.ts'
