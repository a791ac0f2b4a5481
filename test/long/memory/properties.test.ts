// Everything in test/memory/properties.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../memory/properties.test.ts'
