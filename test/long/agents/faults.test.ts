// Everything in test/agents/faults.test.ts again, at every point, of which the fast tests try some.
import '../../agents/faults.test.ts'
