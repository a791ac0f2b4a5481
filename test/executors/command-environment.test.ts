// A command finds its task and the results it comes after in its environment, and the kernel takes all of it.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { commandEnvironment, maxResultLength, maxResults } from '../../src/executors/command-environment.ts'

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

  it("is the process's, then the task's, then the engine's", () => {
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

  it('V-10 never has the tokens of the engine, nor the keys of providers, whatever else it inherits', () => {
    for (const name of secrets) vi.stubEnv(name, 'secret')
    // A provider of any name is one whose address the engine is told.
    vi.stubEnv('LOCAL_MODEL_BASE_URL', 'http://127.0.0.1:1/v1')
    vi.stubEnv('SENTRY_API_KEY', 'of no model')
    const environment = commandEnvironment({ inheritEnv: true, identity })
    for (const name of secrets) expect(environment).not.toHaveProperty(name)
    expect(environment).toMatchObject({ SENTRY_API_KEY: 'of no model', PATH: process.env['PATH'] })
  })

  it('V-10 has the usual variables of the process alone, unless it inherits the others', () => {
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

  it('does not hand on the results of a command that this engine itself runs in', () => {
    vi.stubEnv('ERRAND_RESULT_outer', 'stale')
    expect(resultsOf()).not.toHaveProperty('ERRAND_RESULT_outer')
  })

  it('names the calls around it when this engine itself runs in a command', () => {
    expect(resultsOf()).not.toHaveProperty('ERRAND_OUTER_CALL_IDS')
    vi.stubEnv('ERRAND_CALL_ID', 'call-around')
    expect(resultsOf()).toMatchObject({ ERRAND_CALL_ID: 'call-1', ERRAND_OUTER_CALL_IDS: 'call-around' })
    vi.stubEnv('ERRAND_OUTER_CALL_IDS', 'call-outermost call-outer')
    expect(resultsOf()).toHaveProperty('ERRAND_OUTER_CALL_IDS', 'call-outermost call-outer call-around')
  })

  it('names results after their tasks', () => {
    expect(resultsOf(['line count (é)', '7'])).toHaveProperty('ERRAND_RESULT_line_count____', '7')
  })

  it('keeps the result of the first of two tasks of one name, so that nobody replaces it later', () => {
    expect(resultsOf(['build', 'the first'], ['build', 'the second'])).toHaveProperty(
      'ERRAND_RESULT_build',
      'the first',
    )
  })

  it('gives output without its trailing newlines, text as it is, nothing as nothing, and JSON for the rest', () => {
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

  it('cuts a long result, and results that together are too long', () => {
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
