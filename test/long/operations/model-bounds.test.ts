// Everything in test/operations/model-bounds.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../operations/model-bounds.test.ts'
