// The abilities that run commands: their results, their limits, and that no process is left behind.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import {
  type CommandAbilityOptions,
  type CommandReport,
  commandAbilities,
  maxShownLength,
} from '../../src/commands/operations/command-abilities.ts'
import { isAlive, processGroupOf } from '../../src/commands/process-group.ts'
import { systemProcessTable } from '../../src/commands/process-table.ts'
import { createShell } from '../../src/commands/shell.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { llm } from '../agents/world.ts'
import { openEngine, reached, refusalOf } from '../engine/world.ts'

function setup(options: CommandAbilityOptions = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'errand-commands-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const bus = createBus()
  const abilities = commandAbilities(folder, options)
  for (const ability of abilities) bus.register(ability as (typeof abilities)[0])
  const run = async (command: string, more: object = {}): Promise<CommandReport> =>
    (await bus.call('shell:run', { command, ...more })) as CommandReport
  return { folder, bus, run, abilities }
}

/** An agent whose model makes one call and then ends. */
async function agentWith(call: { name: string; arguments: object }, engineOptions: object = {}, options = {}) {
  const { abilities, folder } = setup(options)
  const model = llm((_input, step) => (step === 1 ? { toolCalls: [{ id: 'c', ...call }] } : { content: 'Done.' }))
  const engine = (await openEngine({ abilities: [model.ability, ...abilities], ...engineOptions })) as Engine
  return { engine, model, folder }
}

it('shell:run returns the output of a command and its exit code, and runs it in the configured folder', async () => {
  const { run, folder } = setup()
  expect(await run('pwd; echo careful >&2')).toEqual({
    exitCode: 0,
    signal: null,
    stdout: `${folder}\n`,
    stderr: 'careful\n',
    truncated: false,
    timedOut: false,
  })
})

it('shell:run returns a failure as a result, with exit code or signal', async () => {
  const { run } = setup()
  expect(await run('echo broken >&2; exit 3')).toMatchObject({ exitCode: 3, signal: null, stderr: 'broken\n' })
  expect(await run('kill -KILL $$')).toMatchObject({ exitCode: 137, signal: 'SIGKILL' })
  expect(await run('no-such-program-here')).toMatchObject({ exitCode: 127 })
})

it('shell:run returns the end of a long output and marks it as truncated', async () => {
  const { run } = setup()
  const { stdout, stderr, truncated } = await run('seq 1 200000; seq 1 2 >&2')
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(maxShownLength)
  expect(Buffer.byteLength(stdout)).toBeGreaterThan(maxShownLength - 8)
  expect(stdout.endsWith('\n199999\n200000\n')).toBe(true)
  expect([stderr, truncated]).toEqual(['1\n2\n', true])
})

it('shell:run ends a command at the time-out, and returns its output so far', async () => {
  const { run } = setup({ timeoutMs: 60_000 })
  expect(await run('echo begun; sleep 300', { timeoutMs: 200 })).toEqual({
    exitCode: null,
    signal: null,
    stdout: 'begun\n',
    stderr: '',
    truncated: false,
    timedOut: true,
  })
})

it('shell:run uses the configured time-out if the caller gives none', async () => {
  const { run } = setup({ timeoutMs: 100 })
  expect(await run('sleep 300')).toMatchObject({ timedOut: true })
})

it('shell:run ends processes that a command has started in the background', async () => {
  const { run } = setup()
  const { stdout } = await run('sleep 300 & echo $!')
  // The process that adopts it may reap it late.
  const left = await systemProcessTable.get(Number(stdout))
  expect(left === undefined || left.zombie).toBe(true)
})

it('shell:run marks the processes of a command at random, because processes of other containers may be in sight', async () => {
  const { run } = setup()
  const marks = [await run('echo $ERRAND_CALL_ID'), await run('echo $ERRAND_CALL_ID')].map(({ stdout }) => stdout)
  expect(new Set(marks).size).toBe(2)
  for (const mark of marks) expect(mark).toMatch(/^unjournaled-[a-z\d]{10,}\n$/)
})

it('shell:run gives a command an empty standard input', async () => {
  const { run } = setup()
  expect(await run('cat; echo end')).toMatchObject({ stdout: 'end\n' })
})

it('shell:run refuses an empty command', async () => {
  const { bus } = setup()
  await refusalOf(bus.call('shell:run', { command: '  ' }), 'INVALID_INPUT')
  await refusalOf(bus.call('shell:run', { command: 'true', timeoutMs: 0 }), 'INVALID_INPUT')
  await refusalOf(bus.call('shell:run', { comand: 'true' }), 'INVALID_INPUT')
})

it('shell:run records a call of its task with its processes, which end with it', async () => {
  const command = 'echo ready > gate; sleep 300'
  const { engine, folder } = await agentWith({ name: 'shell_run', arguments: { command } })
  execFileSync('mkfifo', [join(folder, 'gate')])
  const task = await engine.create({ goal: 'Sleep' })
  expect(await readFile(join(folder, 'gate'), 'utf8')).toBe('ready\n')
  const group = processGroupOf((await engine.calls(task))[0]?.details)
  if (group === undefined) throw new Error('No process group was noted.')
  expect(await isAlive(group)).toBe(true)
  await engine.cancel(task)
  for await (const { type } of engine.events({ taskId: task.id })) if (type === 'run.closed') break
  expect(await isAlive(group)).toBe(false)
})

it('shell:run passes the ids of task and call to the command', async () => {
  const { engine } = await agentWith({
    name: 'shell_run',
    arguments: { command: 'echo "$ERRAND_TASK_ID $ERRAND_CALL_ID"' },
  })
  const task = await engine.create({ goal: 'Say who you are' })
  await engine.result(task)
  const [call] = await engine.calls(task)
  expect(call?.result).toMatchObject({ stdout: `${task.id} ${call?.id}\n` })
})

it('shell:run asks a person first if confirm is set', async () => {
  const call = { name: 'shell_run', arguments: { command: 'echo approved' } }
  const { engine } = await agentWith(call, {}, { confirm: 'May this run?' })
  const task = await engine.create({ goal: 'Do it' })
  const { questions } = await reached(engine, task, 'input_required')
  expect(questions[0]?.question).toMatch(/^May this run\?\n\n```json\n\{\n {2}"command": "echo approved"/)
  expect(await engine.calls(task)).toMatchObject([{ status: 'pending' }])
  await engine.answer(task, { approved: true })
  await engine.result(task)
  expect(await engine.calls(task)).toMatchObject([{ status: 'completed', result: { stdout: 'approved\n' } }])
})

it('shell:background can only be called by the run of a task', async () => {
  const { bus } = setup()
  const refusal = await refusalOf(bus.call('shell:background', { command: 'true' }), 'INVALID_INPUT')
  expect(refusal.message).toContain('Only the run of a task')
})

it('shell:background is available to the runs of every executor', async () => {
  const { abilities } = setup()
  const engine = (await openEngine({
    abilities,
    executors: {
      build: async (_task, run) => {
        const { taskId } = await run.invoke<{ taskId: string }>('shell:background', { command: 'echo built' })
        const [result] = (await run.wait([taskId])) as [{ stdout: string }]
        return result.stdout
      },
    },
  })) as Engine
  const [task] = await engine.create([{ executor: 'build' }])
  expect(await engine.result(task!)).toBe('built\n')
})

it('shell:background names the subtask by its command or the given name', async () => {
  const { engine } = await agentWith({
    name: 'shell_background',
    arguments: { command: `echo one\n${'x'.repeat(300)} || true` },
  })
  const task = await engine.create({ goal: 'Start it' })
  await engine.result(task)
  expect((await engine.children(task)).map(({ name }) => name)).toEqual(['echo one…'])
})

it('shell:background uses the executor of the engine that has the same name', async () => {
  const call = { name: 'shell_background', arguments: { command: 'echo "$ERRAND_LEDGER"' } }
  const { engine } = await agentWith(call, { executors: { shell: createShell({ ledger: 'own.db' }) } })
  const task = await engine.create({ goal: 'Start it' })
  await engine.result(task)
  const [child] = await engine.children(task)
  expect(await engine.result(child!)).toMatchObject({ stdout: 'own.db\n' })
})

it('shell:background adds its executor to an engine without one, for which a limit may be set', async () => {
  const { abilities } = setup()
  const engine = (await openEngine({ abilities })) as Engine
  await engine.setLimits({ limits: { shell: 1 } })
  const [task] = await engine.create([{ executor: 'shell', input: { run: 'echo here' } }])
  expect(await engine.result(task!)).toMatchObject({ stdout: 'here\n' })
  const without = (await openEngine({})) as Engine
  await refusalOf(without.create([{ executor: 'shell', input: { run: 'echo here' } }]), 'UNKNOWN_EXECUTOR')
})

it('a model may not name the executor of shell:background itself', async () => {
  const call = { name: 'task_create', arguments: { goal: 'x', executor: 'shell', input: { run: 'true' } } }
  const { engine } = await agentWith(call)
  const task = await engine.create({ goal: 'Try it' })
  await engine.result(task)
  expect((await engine.calls(task)).map(({ status, error }) => `${status} ${error?.code}`)).toEqual([
    'failed FORBIDDEN',
  ])
})

describe('the environment of a command of an agent', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it('V-10 the environment of a command of an agent contains the default variables, or all but secrets with inheritEnv, and none from the model', async () => {
    vi.stubEnv('ERRAND_TOKEN', 'token-of-the-server')
    vi.stubEnv('OF_THE_PROCESS', 'inherited')
    const print = 'echo "${ERRAND_TOKEN-none} ${OF_THE_PROCESS-none}"'
    expect((await setup().run(print)).stdout).toBe('none none\n')
    const { run, bus } = setup({ inheritEnv: true })
    expect((await run(print)).stdout).toBe('none inherited\n')
    for (const ability of ['shell:run', 'shell:background']) {
      const input = { command: 'true', env: { X: { secret: 'ERRAND_TOKEN' } } }
      await refusalOf(bus.call(ability, input), 'INVALID_INPUT')
    }
  })

  it('V-10 the environment of a command of an agent is the same for background commands', async () => {
    vi.stubEnv('ERRAND_TOKEN', 'token-of-the-server')
    vi.stubEnv('OF_THE_PROCESS', 'inherited')
    const call = {
      name: 'shell_background',
      arguments: { command: 'echo "${ERRAND_TOKEN-none} ${OF_THE_PROCESS-none}"' },
    }
    for (const [options, printed] of [
      [{}, 'none none\n'],
      [{ inheritEnv: true }, 'none inherited\n'],
    ] as const) {
      const { engine } = await agentWith(call, {}, options)
      await engine.result(await engine.create({ goal: 'Look' }))
      await engine.idle()
      const { tasks } = await engine.list({ executor: 'shell' })
      expect(tasks.map(({ result }) => (result as { stdout: string }).stdout)).toEqual([printed])
    }
  })
})

it('commandAbilities refuses a folder that does not exist, and unknown options', async () => {
  await refusalOf(() => commandAbilities(join(tmpdir(), 'errand-no-such-folder')), 'NOT_FOUND')
  await refusalOf(() => commandAbilities(import.meta.filename), 'NOT_FOUND')
  const refusal = await refusalOf(() => commandAbilities('.', { timeoutMS: 1 } as object), 'UNKNOWN_OPTION')
  expect(refusal.details).toMatchObject({ nearest: 'timeoutMs' })
  await refusalOf(() => commandAbilities('.', { timeoutMs: -1 }), 'INVALID_INPUT')
})
