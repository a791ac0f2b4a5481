// Everything in test/agent/faults.test.ts again, at every point, of which the fast tests try some.
import '../../agent/faults.test.ts'
