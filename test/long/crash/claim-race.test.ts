// Many processes on one board claim each task once.
import { it } from 'vitest'
import { raceForClaims } from '../../crash/claim-race.ts'

it('S4-054 X-038 eight processes that claim 3,000 tasks claim each once and leave none', () =>
  raceForClaims({ tasks: 3_000, processes: 8 }))
