// Everything in test/entities/fact-words.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../entities/fact-words.test.ts'
