// Many repetitions of signals by several processes.
import { it } from 'vitest'
import { raceWithSignals } from '../../crash/signal-race.ts'

it('each of 100 signals that four processes send 10,000 times in all is taken once', () =>
  raceWithSignals({ ids: 100, rounds: 25, processes: 4 }))
