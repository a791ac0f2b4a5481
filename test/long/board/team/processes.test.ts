// Members in processes of their own: of several that claim one task exactly one gets it, and a killed one loses it.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RaceReport } from '../../../board/team/claim-racer.ts'
import { createAll } from '../../../board/team/world.ts'
import { ledgerFile, openEngine, reached } from '../../../engine/world.ts'
import { programOf } from '../../../programs.ts'

const processes = 4
const tasks = 40

/** A member that waits for `go`. */
function startMember(how: 'race' | 'hold', ledger: string, as: string, count: number) {
  const script = programOf(import.meta.dirname, '../../../board/team/claim-racer.ts')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, how, ledger, as, `${count}`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string) as unknown
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  return {
    ready: next(),
    async go<T>(): Promise<T> {
      child.stdin.write('go\n')
      return (await next()) as T
    },
    kill,
  }
}

/** Violations of what a race must guarantee; empty if there are none. */
function complaints(reports: readonly RaceReport[], numbers: readonly number[]): string[] {
  const won = reports.flatMap((report) => report.won)
  return [
    ...reports.flatMap((report) => report.refusals),
    ...numbers
      .map((number) => ({ number, winners: won.filter((each) => each === number).length }))
      .filter(({ winners }) => winners !== 1)
      .map(({ number, winners }) => `task ${number} was won by ${winners}`),
  ]
}

describe('Members in processes of their own', () => {
  it(`S4-054 ${processes} processes claim the same ${tasks} tasks, and each task has one winner`, async () => {
    const ledger = ledgerFile()
    const { bus } = await openEngine({ ledger, work: false })
    const numbers = await createAll(bus, ...Array.from({ length: tasks }, (_, n) => `task ${n}`))
    const members = Array.from({ length: processes }, (_, n) => startMember('race', ledger, `agent-${n}`, tasks))
    await Promise.all(members.map(({ ready }) => ready))
    const reports = await Promise.all(members.map(({ go }) => go<RaceReport>()))
    expect(complaints(reports, numbers)).toEqual([])
    for (const [n, { won }] of reports.entries()) {
      const { tasks: mine } = await bus.call('board:list', { owner: `agent-${n}` })
      expect(mine.map(({ id }) => id)).toEqual(won)
    }
  })

  it('S4-054 the check of the race detects a task with two winners, one with none, and an unexpected refusal', () => {
    const fine: RaceReport = { won: [1], lost: [2], refusals: [] }
    expect(complaints([fine, { ...fine, won: [2] }], [1, 2])).toEqual([])
    expect(complaints([fine, fine], [1])).toEqual(['task 1 was won by 2'])
    expect(complaints([fine], [1, 2])).toEqual(['task 2 was won by 0'])
    expect(complaints([{ ...fine, refusals: ['LEDGER_BUSY'] }], [1])).toEqual(['LEDGER_BUSY'])
  })

  it('S4-057 a killed process loses its task when its lease ends, and the next process claims it', async () => {
    const ledger = ledgerFile()
    const engine = await openEngine({ ledger })
    await createAll(engine.bus, 'Write')
    const member = startMember('hold', ledger, 'ada', 400)
    await member.ready
    const { task } = await member.go<{ task: { taskId: string } }>()
    // While it runs, it keeps the task for longer than the lease.
    const leases = new Set<number>()
    await reached(engine, task.taskId, (now) => now.status === 'working')
    while (leases.size < 3) {
      leases.add((await engine.bus.call('board:get', { id: 1 })).task.leaseUntil as number)
      await new Promise(setImmediate)
    }
    await member.kill()
    await reached(engine, task.taskId, (now) => now.owner === null)
    expect((await engine.bus.call('board:claim_next', { as: 'bob' })).task).toMatchObject({ id: 1, owner: 'bob' })
    expect((await engine.bus.call('board:log', { id: 1 })).claims).toMatchObject([
      { event: 'claimed', owner: 'ada', source: 'child' },
      { event: 'released', owner: 'ada', reason: 'the lease is over' },
      { event: 'claimed', owner: 'bob' },
    ])
  })
})
