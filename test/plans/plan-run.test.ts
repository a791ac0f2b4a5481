// Plans run by a program: `engine.plan`, what it returns, and how a round is read.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ask, createEngine, createShell, type Engine, type EngineOptions } from '../../src/index.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'errand-plan-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const engine: Engine = await createEngine({ executors: { shell: createShell(), ask }, ...options })
  onTestFinished(() => engine.close())
  return engine
}

const plan = {
  name: 'release',
  tasks: {
    build: { run: 'echo built' },
    checks: { after: 'build', tasks: { lint: { run: 'echo linted' }, test: { after: 'lint', run: 'echo tested' } } },
  },
}

describe('engine.plan', () => {
  it('engine.plan runs a plan given as a value and returns its tasks by path and its outcome', async () => {
    const engine = await openEngine()
    const run = await engine.plan(plan, { cwd: folder() })
    expect(Object.keys(run.tasks)).toEqual(['build', 'checks', 'checks/lint', 'checks/test'])
    expect(run.tasks['build']).toMatchObject({ name: 'build', executor: 'shell', key: `${run.round}/build` })
    expect(await run.settled()).toMatchObject({ status: 'done', broken: [], open: [] })
    const results = await run.result()
    expect(Object.keys(results)).toEqual(['build', 'checks/lint', 'checks/test'])
    expect(results['checks/test']).toMatchObject({ stdout: 'tested\n' })
  })

  it('engine.plan counts a deadline that is a duration from the time of the engine, also when the plan has changed', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock })
    const changed = async (deadline: string) => {
      const { tasks } = await engine.plan(
        { name: 'due', tasks: { it: { run: 'true', autoStart: false, deadline } } },
        { cwd: folder() },
      )
      return tasks['it']?.deadline
    }
    expect(await changed('2h')).toBe(clock.now() + 7_200_000)
    clock.increment(1_000)
    expect(await changed('1h')).toBe(clock.now() + 3_600_000)
  })

  it('engine.plan runs a plan file in the folder of the file', async () => {
    const place = folder()
    writeFileSync(join(place, 'plan.yaml'), 'tasks:\n  here: { run: pwd }\n')
    const engine = await openEngine()
    const { result } = await engine.plan('plan.yaml', { cwd: place })
    expect(await result()).toMatchObject({ here: { stdout: `${place}\n` } })
  })

  it('engine.plan goes on with a round, retries what failed, and keeps what is completed', async () => {
    const place = folder()
    const source = {
      name: 'again',
      tasks: { first: { run: 'echo x >> first' }, second: { after: 'first', run: 'test -e ready' } },
    }
    const engine = await openEngine()
    const failed = await engine.plan(source, { cwd: place })
    await expect(failed.result()).rejects.toMatchObject({ code: 'TASK_FAILED', taskId: failed.tasks['second']?.id })
    writeFileSync(join(place, 'ready'), '')
    const retried = await engine.plan(source, { cwd: place })
    expect(retried.round).toBe(failed.round)
    expect((await retried.settled()).status).toBe('done')
    expect(readFileSync(join(place, 'first'), 'utf8')).toBe('x\n')
    const another = await engine.plan(source, { cwd: place, again: true })
    expect(another.round).not.toBe(failed.round)
    expect((await another.settled()).status).toBe('done')
    expect(readFileSync(join(place, 'first'), 'utf8')).toBe('x\nx\n')
  })

  it('engine.plan runs only the targets and what they come after', async () => {
    const engine = await openEngine()
    const run = await engine.plan(plan, { cwd: folder(), targets: ['lint'] })
    expect((await run.settled()).completed.map(({ name }) => name)).toEqual(['build', 'lint'])
    expect((await engine.get(run.tasks['checks/test']?.id as string))?.status).toBe('submitted')
    const redone = await engine.plan(plan, { cwd: folder(), key: 'nightly', redo: ['build'] })
    expect(redone.round).toMatch(/=nightly$/)
    await redone.settled()
  })

  it('engine.plan resolves with status "open" when a task waits for a person, and goes on after the answer', async () => {
    const engine = await openEngine()
    const source = { name: 'ask', tasks: { ok: { ask: 'Ship it?' }, ship: { after: 'ok', run: 'echo shipped' } } }
    const run = await engine.plan(source)
    const outcome = await run.settled()
    expect(outcome).toMatchObject({ status: 'open', asking: [{ name: 'ok' }], open: [{ name: 'ship' }] })
    await expect(run.result()).rejects.toMatchObject({ code: 'BLOCKED' })
    await engine.answer(run.tasks['ok']?.id as string, 'yes')
    expect(await run.result()).toMatchObject({ ok: 'yes', ship: { stdout: 'shipped\n' } })
  })

  it('engine.plan rejects a wait that is aborted, timed out, or ended by close', async () => {
    const engine = await openEngine({ shutdownTimeoutMs: 10 })
    const run = await engine.plan({ name: 'long', tasks: { sleep: { run: 'sleep 60' } } })
    await expect(run.settled({ timeoutMs: 5 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(run.settled({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    const waiting = expect(run.settled()).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
    await engine.close()
    await waiting
  })

  it('engine.plan runs tasks for executors of the program, and refuses an executor that does not exist', async () => {
    const engine = await openEngine({ executors: { shell: createShell(), double: ({ input }) => Number(input) * 2 } })
    const source = { name: 'own', tasks: { two: { executor: 'double', input: 1 } } }
    expect(await (await engine.plan(source)).result()).toEqual({ two: 2 })
    const unknown = { name: 'own', tasks: { two: { executor: 'dobule' } } }
    await expect(engine.plan(unknown)).rejects.toMatchObject({
      code: 'INVALID_PLAN',
      message: /^tasks\.two\.executor: .*Did you mean "double"\?/,
      details: { path: 'tasks.two.executor', nearest: 'double' },
    })
  })

  it.each([
    [{ tasks: { a: { run: 'x' } } }, 'INVALID_PLAN', /has no `name`/],
    [
      { name: 'x', tasks: { a: { run: 'x', afterr: 'b' } } },
      'INVALID_PLAN',
      /^tasks\.a\.afterr: .*Did you mean "after"/,
    ],
    [
      { name: 'x', files: '.', tasks: { a: { run: 'x' } } },
      'INVALID_PLAN',
      /has `files`, which only `errand run` takes/,
    ],
    ['missing.yaml', 'NOT_FOUND', /Cannot read the plan missing\.yaml/],
  ])('engine.plan refuses %j with %s, before anything is created', async (source, code, message) => {
    const engine = await openEngine()
    await expect(engine.plan(source)).rejects.toMatchObject({ code, message })
    expect((await engine.list()).total).toBe(0)
  })

  it('engine.plan refuses options that contradict each other or do not exist', async () => {
    const engine = await openEngine()
    await expect(engine.plan(plan, { key: 'a', again: true })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(engine.plan(plan, { target: ['a'] } as never)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(engine.plan(plan, { targets: ['lintt'] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { nearest: 'lint' },
    })
  })

  it('engine.plan follows a round from a producer, which runs nothing itself', async () => {
    const ledger = join(folder(), 'errand.db')
    const producer = await openEngine({ ledger, work: false, executors: {} })
    const run = await producer.plan(plan, { cwd: folder() })
    const settled = run.settled()
    await openEngine({ ledger })
    expect((await settled).status).toBe('done')
  })
})

describe('a round', () => {
  it('a round is read once before it is created and once after, and not again when nothing is missing', async () => {
    const engine = await openEngine({ work: false })
    const list = vi.spyOn(engine, 'list')
    const reads = () => list.mock.calls.splice(0).filter(([options]) => options?.keyPrefix?.endsWith('/')).length
    const cwd = folder()
    await engine.plan(plan, { cwd })
    expect(reads()).toBe(2)
    await engine.plan(plan, { cwd })
    expect(reads()).toBe(1)
  })
})
