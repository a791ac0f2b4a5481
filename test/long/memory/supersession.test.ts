// Everything in test/memory/supersession.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../memory/supersession.test.ts'
