// A command finds its task and the results before it in its environment, and the kernel accepts all of it.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { commandEnvironment, maxResultLength, maxResults } from '../../src/commands/command-environment.ts'

const identity = { taskId: 'task-1', callId: 'call-1', ledger: undefined }

function resultsOf(...dependencies: Array<[name: string, result: unknown]>) {
  return commandEnvironment({
    inheritEnv: true,
    identity,
    dependencies: dependencies.map(([name, result]) => ({ name, result })),
  })
}

describe('the environment of a command', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('the environment of a command merges the variables of the process, of the task and of the engine, in this order', () => {
    vi.stubEnv('FROM_PROCESS', 'process')
    vi.stubEnv('FROM_BOTH', 'process')
    const own = { FROM_BOTH: 'task', FROM_TASK: 'task', ERRAND_TASK_ID: 'task-forged' }
    const parts = { inheritEnv: true, own, identity: { ...identity, ledger: '/srv/errand.db' } }
    expect(commandEnvironment(parts)).toMatchObject({
      FROM_PROCESS: 'process',
      FROM_BOTH: 'task',
      FROM_TASK: 'task',
      ERRAND_TASK_ID: 'task-1',
      ERRAND_CALL_ID: 'call-1',
      ERRAND_LEDGER: '/srv/errand.db',
    })
  })

  const secrets = [
    'ERRAND_TOKEN',
    'ERRAND_MCP_TOKEN',
    'OPENAI_API_KEY',
    'XAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'AZURE_OPENAI_API_KEY',
    'LOCAL_MODEL_API_KEY',
  ]

  it('V-10 the environment of a command never contains the tokens of the engine or the keys of providers, whatever else a command inherits', () => {
    for (const name of secrets) vi.stubEnv(name, 'secret')
    // A provider is also known by the variable of its address.
    vi.stubEnv('LOCAL_MODEL_BASE_URL', 'http://127.0.0.1:1/v1')
    vi.stubEnv('SENTRY_API_KEY', 'of no model')
    const environment = commandEnvironment({ inheritEnv: true, identity })
    for (const name of secrets) expect(environment).not.toHaveProperty(name)
    expect(environment).toMatchObject({ SENTRY_API_KEY: 'of no model', PATH: process.env['PATH'] })
  })

  it('V-10 the environment of a command contains only the default variables of the process, unless the command inherits all', () => {
    vi.stubEnv('LC_ALL', 'C')
    vi.stubEnv('TZ', 'UTC')
    vi.stubEnv('DATABASE_URL', 'postgres://errand:password@db/tasks')
    vi.stubEnv('HTTPS_PROXY', 'http://user:password@proxy')
    const environment = commandEnvironment({ inheritEnv: false, own: { MINE: 'mine' }, identity })
    expect(environment).toMatchObject({ LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'], MINE: 'mine' })
    expect(environment).toMatchObject({ ERRAND_TASK_ID: 'task-1', ERRAND_CALL_ID: 'call-1' })
    expect(environment).not.toHaveProperty('DATABASE_URL')
    expect(environment).not.toHaveProperty('HTTPS_PROXY')
    expect(commandEnvironment({ inheritEnv: true, identity })).toHaveProperty('DATABASE_URL')
  })

  it('the environment of a command does not contain the results of a command in which this engine itself runs', () => {
    vi.stubEnv('ERRAND_RESULT_outer', 'stale')
    expect(resultsOf()).not.toHaveProperty('ERRAND_RESULT_outer')
  })

  it('the environment of a command contains the ids of the enclosing calls when this engine itself runs in a command', () => {
    expect(resultsOf()).not.toHaveProperty('ERRAND_OUTER_CALL_IDS')
    vi.stubEnv('ERRAND_CALL_ID', 'call-around')
    expect(resultsOf()).toMatchObject({ ERRAND_CALL_ID: 'call-1', ERRAND_OUTER_CALL_IDS: 'call-around' })
    vi.stubEnv('ERRAND_OUTER_CALL_IDS', 'call-outermost call-outer')
    expect(resultsOf()).toHaveProperty('ERRAND_OUTER_CALL_IDS', 'call-outermost call-outer call-around')
  })

  it('the environment of a command names the variables of results after their tasks', () => {
    expect(resultsOf(['line count (é)', '7'])).toHaveProperty('ERRAND_RESULT_line_count____', '7')
  })

  it('the environment of a command keeps the result of the first of two tasks with one name, so that a later task cannot replace it', () => {
    expect(resultsOf(['build', 'the first'], ['build', 'the second'])).toHaveProperty(
      'ERRAND_RESULT_build',
      'the first',
    )
  })

  it('the environment of a command contains output without its trailing newlines, text unchanged, nothing as empty, and JSON for other results', () => {
    expect(
      resultsOf(
        ['output', { exitCode: 0, stdout: '\na\n\nb \n\n' }],
        ['text', 'plain\n'],
        ['nothing', null],
        ['missing', undefined],
        ['list', [1, 'two']],
        ['number', 0],
      ),
    ).toMatchObject({
      ERRAND_RESULT_output: '\na\n\nb ',
      ERRAND_RESULT_text: 'plain\n',
      ERRAND_RESULT_nothing: '',
      ERRAND_RESULT_missing: '',
      ERRAND_RESULT_list: '[1,"two"]',
      ERRAND_RESULT_number: '0',
    })
  })

  it('the environment of a command holds the beginning of a long result, and of results that together are too long', () => {
    const environment = resultsOf(
      ...Array.from({ length: 7 }, (_, index): [string, string] => [`r${index}`, 'é'.repeat(maxResultLength)]),
    )
    const sizes = Array.from({ length: 7 }, (_, index) =>
      Buffer.byteLength(environment[`ERRAND_RESULT_r${index}`] ?? ''),
    )
    expect(sizes.slice(0, 5)).toEqual(Array(5).fill(maxResultLength))
    expect(sizes.reduce((sum, size) => sum + size)).toBe(maxResults)
    expect(sizes[6]).toBe(0)
  })
})
