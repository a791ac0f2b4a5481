// Everything in test/memory/project.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../memory/project.test.ts'
