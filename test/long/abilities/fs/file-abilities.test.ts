// Everything in test/abilities/fs/file-abilities.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../abilities/fs/file-abilities.test.ts'
