// A few processes that send the same signals to one task.
import { it } from 'vitest'
import { raceWithSignals } from './signal-race.ts'

it('each of ten signals that two processes send five times is taken once', () =>
  raceWithSignals({ ids: 10, rounds: 5, processes: 2 }))
