// Everything in test/abilities/model-bounds.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../abilities/model-bounds.test.ts'
