// A few processes on one board claim each task once.
import { it } from 'vitest'
import { raceForClaims } from './claim-race.ts'

it('S4-054 X-038 three processes that claim 60 tasks claim each once and leave none', () =>
  raceForClaims({ tasks: 60, processes: 3 }))
