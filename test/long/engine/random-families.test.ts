// Everything in test/engine/random-families.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../engine/random-families.test.ts'
