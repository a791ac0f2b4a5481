// Everything in test/team/simultaneous.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../team/simultaneous.test.ts'
