// Everything in test/memory/team/simultaneous.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../memory/team/simultaneous.test.ts'
