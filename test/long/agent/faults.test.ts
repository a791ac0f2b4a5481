// Everything in test/agent/faults.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../agent/faults.test.ts'
