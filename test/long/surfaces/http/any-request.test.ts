// Everything in test/surfaces/http/any-request.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../surfaces/http/any-request.test.ts'
