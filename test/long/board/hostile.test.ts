// Everything in test/board/hostile.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../board/hostile.test.ts'
