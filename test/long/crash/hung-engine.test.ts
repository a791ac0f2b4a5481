// An engine that hangs: its process is stopped during a run for longer than its lease. Another engine takes the run over in time, there is
// one outcome, and when the first engine wakes its run has ended, and it runs other tasks.
import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { Task } from '../../../src/entities/task.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { createPlace, type Line, type Place } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'
import { programOf } from '../../programs.ts'

const leaseMs = 1_000
/** The interval at which an engine looks for lost runs. */
const checkEveryMs = 200

/** Starts an engine in a process of its own, which can be stopped. */
function startProcess(place: Place, itsLeaseMs: number) {
  const script = programOf(import.meta.dirname, '../../crash/hung-process.ts')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, place.ledger, String(itsLeaseMs)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    for (const listen of listeners) listen()
  })
  return {
    exited,
    send: (line: string) => child.stdin.write(`${line}\n`),
    wake: () => child.kill('SIGCONT'),
    /** Stops it outside of a commit, during which it would hold the write lock of the file. So this process holds the lock meanwhile. */
    stop() {
      const database = new Database(place.ledger, { timeout: 5_000 })
      database.exec('begin immediate')
      child.kill('SIGSTOP')
      while (
        !execFileSync('ps', ['-o', 'stat=', '-p', String(child.pid)])
          .toString()
          .startsWith('T')
      );
      database.exec('rollback')
      database.close()
    },
    /** Resolves to the first line that has this field. */
    lineWith: (field: string): Promise<Line> =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = lines.find((line) => field in line)
          if (found === undefined) return
          listeners.delete(check)
          resolve(found)
        }
        listeners.add(check)
        check()
        void exited.then((code) => reject(new Error(`it ended (${code}) and never printed "${field}"`)))
      }),
  }
}

/** The engine that takes over: the same executors with other results. */
async function openSecond(place: Place, options: object = {}) {
  const reported: unknown[] = []
  const again = (what: (run: Run) => Promise<unknown>) => async (_task: ExecutorTask, run: Run) => {
    const [call, other] = await Promise.all([run.call('work', () => 'second'), what(run)])
    return [call, other]
  }
  const engine = await createEngine({
    ledger: place.ledger,
    leaseMs,
    onInterrupt: 'rerun',
    onError: (error, context) => reported.push({ error, context }),
    executors: {
      call: again(async () => null),
      ask: again((run) => run.ask('Well?')),
      wait: again(async (run) => run.wait(await run.spawn({ name: 'by hand', key: 'by hand' }))),
      pass: (_task: ExecutorTask, run: Run) => run.sleep((_task.input as { ms: number }).ms),
    },
    ...options,
  })
  onTestFinished(async () => {
    await engine.close()
    expect(reported).toEqual([])
  })
  return engine
}

type Second = Awaited<ReturnType<typeof openSecond>>

/** Waits by the clock of the engine: runs a task that sleeps. */
async function pass(engine: Second, ms: number): Promise<void> {
  await engine.result(await engine.create({ executor: 'pass', input: { ms } }))
}

const create = async (engine: Second, executor: string) =>
  (await engine.create({ executor } as never)) as unknown as Task

/** Creates a task that the first engine runs (the second does not work yet), and stops the first engine during the run. */
async function stopped(place: Place, executor: string, itsLeaseMs = leaseMs) {
  const first = startProcess(place, itsLeaseMs)
  const instance = (await first.lineWith('ready'))['ready'] as string
  const second = await openSecond(place, { work: false })
  const task = await create(second, executor)
  await first.lineWith('inside')
  // The question or wait beside its call is recorded by now.
  if (executor === 'ask' || executor === 'wait') await waitEntry(place, task, executor)
  await second.work()
  first.stop()
  return { first, second, task, instance, since: Date.now() }
}

/** Resolves when the wait of a run is recorded. No event reports it while the run has other calls in flight. */
async function waitEntry(place: Place, task: Task, kind: string): Promise<void> {
  const database = new Database(place.ledger, { readonly: true })
  const query = database.prepare('select 1 from call where task_id = ? and kind = ?')
  while (query.get(task.id, kind) === undefined) await turns()
  database.close()
}

async function lostAt(engine: Pick<Engine, 'events'>, task: Task): Promise<number> {
  for await (const event of engine.events({ taskId: task.id })) if (event.data['lost'] !== undefined) return event.at
  throw new Error('the feed has ended')
}

describe('An engine that hangs for longer than its lease', () => {
  it.each([
    ['call', null],
    ['ask', 'answered'],
    ['wait', 'by hand is done'],
  ] as const)(
    'an engine that hangs in run.%s loses its run when its lease ends, and runs other tasks when it wakes',
    async (executor, other) => {
      const place = createPlace()
      const { first, second, task, instance, since } = await stopped(place, executor)
      const tookMs = (await lostAt(second, task)) - since
      console.log(`hung in run.${executor}: taken over after ${tookMs} ms, with a lease of ${leaseMs} ms`)

      if (executor === 'ask') {
        for await (const item of second.stream(task))
          if (item.type === 'state' && item.status === 'input_required') break
        await second.answer(task, 'answered')
      }
      if (executor === 'wait') {
        const [child] = await second.children(task)
        await second.complete(await second.claim(child?.id as string, { owner: 'ada' }), 'by hand is done')
      }
      expect(await second.result(task)).toEqual(['second', other])

      first.wake()
      first.send('go')
      const saw = await first.lineWith('saw')
      const late = await first.lineWith('late')
      console.log(`woken, it saw ${JSON.stringify(saw['saw'])}, and later ${JSON.stringify(late['late'])}`)
      expect(saw['aborted']).toBe(true)
      expect(new Set(Object.values({ ...(saw['saw'] as object), ...(late['late'] as object) }))).toEqual(
        new Set(['RUN_ENDED']),
      )

      // It counts as alive again: its next run lasts longer than its lease and is not taken over.
      const stays = await create(second, 'stay')
      await first.lineWith('staying')
      await pass(second, 2 * leaseMs + checkEveryMs)
      expect(await second.runs(stays)).toMatchObject([{ status: 'live', instanceId: instance }])
      first.send('enough')
      expect(await second.result(stays)).toBe('stayed')
      expect(await second.runs(stays)).toHaveLength(1)

      first.send('leave')
      expect((await first.lineWith('closed'))['reported']).toEqual([])
      expect(await first.exited).toBe(0)
      await second.close()
      expect((await violations(place)).filter((each) => !each.includes('never executed'))).toEqual([])
      expect(await outcomesIn(place, task)).toEqual({
        completed: 1,
        result: ['second', other],
        calls: [
          ['failed', null],
          ['completed', 'second'],
        ],
        late: 0,
      })
    },
  )

  it('S0-109 the run of an engine that hangs is not taken over before its lease ends', async () => {
    const { first, second, task, instance } = await stopped(createPlace(), 'call', 60_000)
    await pass(second, 2 * leaseMs + checkEveryMs)
    expect(await second.runs(task)).toMatchObject([{ status: 'live', instanceId: instance }])
    first.wake()
    first.send('go')
    expect((await first.lineWith('saw'))['saw']).toEqual({ call: 'ok' })
  })
})

/** The outcomes in the ledger, read by an engine that runs nothing. */
async function outcomesIn(place: Place, task: Task) {
  const reader = await createEngine({ ledger: place.ledger, work: false })
  let completed = 0
  for await (const event of reader.events({ follow: false, taskId: task.id })) {
    if (event.type === 'task.completed') completed++
  }
  const calls = (await reader.calls(task)).map(({ status, result }) => [status, result])
  const { result } = (await reader.get(task)) as Task
  const late = (await reader.messages(task)).filter((message) => message.content === 'late').length
  await reader.close()
  return { completed, result, calls, late }
}

describe('A machine that slept for an hour', () => {
  it.each([
    ['its timers fire one after the other', (clock: SimulatedClock) => clock.increment(3_600_000)],
    ['its clock jumps', (clock: SimulatedClock) => clock.jumpTo(clock.now() + 3_600_000)],
  ])('S0-109 no engine loses a run when the machine slept for an hour and %s', async (_how, sleep) => {
    const place = createPlace()
    const clock = new SimulatedClock()
    const end = Promise.withResolvers<void>()
    const started: Array<() => void> = []
    const engines = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        createEngine({
          ledger: place.ledger,
          clock,
          executors: {
            [name]: async () => {
              started.shift()?.()
              await end.promise
              return name
            },
          },
        }),
      ),
    )
    onTestFinished(async () => {
      end.resolve()
      await Promise.all(engines.map((engine) => engine.close()))
    })
    const tasks: Task[] = []
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      const began = new Promise<void>((resolve) => started.push(resolve))
      tasks.push((await (engines[index] as Engine).create({ executor: name } as never)) as unknown as Task)
      await began
      // Their checks and heartbeats are at different times.
      clock.increment(70)
      await turns()
    }
    sleep(clock)
    for (let ctx = 0; ctx < 300; ctx++) {
      await turns()
      clock.increment(50)
    }
    await turns()
    const [engine] = engines as [Engine]
    for (const task of tasks) {
      expect(await engine.runs(task)).toMatchObject([{ number: 1, status: 'live' }])
    }
    end.resolve()
    for (const task of tasks) expect(await engine.result(task)).toBe(task.executor)
  })
})

/** Some turns of the event loop, in which pending work proceeds. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}
