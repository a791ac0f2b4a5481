// The time of a server as a host knows it, whatever either clock does.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServerTime } from '../../../src/ledger/postgres/server-watch.ts'

/** A host and a server whose clocks the test sets; an answer takes some time in both directions. */
function setup() {
  let here = 1_000_000
  let there = 5_000_000
  const time = new ServerTime({ now: () => here })
  const pass = (ms: number) => {
    here += ms
    there += ms
  }
  return {
    time,
    pass,
    there: () => there,
    setServer: (byMs: number) => {
      there += byMs
    },
    setHost: (byMs: number) => {
      here += byMs
    },
    compare(toMs = 1, backMs = 1) {
      const sentAt = here
      pass(toMs)
      const answer = there
      pass(backMs)
      time.compare(answer, sentAt)
    },
  }
}

describe('the time of a server', () => {
  it('never steps back, whatever the clocks of the server and of the host do', () => {
    const ms = fc.integer({ min: -10_000, max: 10_000 })
    const action = fc.record({ what: fc.constantFrom('pass', 'compare', 'setServer', 'setHost'), ms, other: ms })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 50 }), (actions) => {
        const world = setup()
        let last = Number.NEGATIVE_INFINITY
        world.compare()
        for (const { what, ms: given, other } of actions) {
          if (what === 'pass') world.pass(Math.abs(given))
          else if (what === 'compare') world.compare(Math.abs(given), Math.abs(other))
          else if (what === 'setServer') world.setServer(given)
          else world.setHost(given)
          const now = world.time.now()
          if (now < last) return false
          last = now
        }
        return true
      }),
    )
  })

  it('follows a server whose clock is set forward with the next answer', () => {
    const { time, compare, setServer, there } = setup()
    compare()
    setServer(3_600_000)
    compare()
    expect(Math.abs(time.now() - there())).toBeLessThanOrEqual(1)
  })

  it('passes at half the rate after the clock of the server was set back, until both agree', () => {
    const { time, compare, pass, setServer, there } = setup()
    compare()
    setServer(-10_000)
    compare()
    const before = time.now()
    pass(4_000)
    expect(time.now() - before).toBeCloseTo(2_000)
    compare()
    pass(16_000)
    expect(Math.abs(time.now() - there())).toBeLessThanOrEqual(2)
  })

  it('is not wrong by the time that an answer waits for a busy event loop', () => {
    const { time, compare, there } = setup()
    compare()
    compare(1, 10_000)
    expect(Math.abs(time.now() - there())).toBeLessThanOrEqual(2)
    compare(10_000, 1)
    expect(Math.abs(time.now() - there())).toBeLessThanOrEqual(2)
  })

  it('is corrected by a prompt answer after the first one was late', () => {
    const { time, compare, pass, there } = setup()
    compare(1, 10_000)
    compare()
    pass(20_000)
    expect(Math.abs(time.now() - there())).toBeLessThanOrEqual(2)
  })
})
