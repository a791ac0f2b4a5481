// V-10: secrets of the engine's process. A command that prints its environment prints no token of the server and no key of a model, so no
// reader of the ledger finds them there.
import { afterEach, expect, it, vi } from 'vitest'
import { Workplace } from './cli/workplace.ts'

const token = 'a-token-that-is-long-enough-for-a-test'
const key = 'sk-key-of-the-model-provider'

/** A folder in which processes have secrets in their environment. */
function setup(): Workplace {
  vi.stubEnv('ERRAND_TOKEN', token)
  vi.stubEnv('ERRAND_MCP_TOKEN', `${token}-for-mcp`)
  vi.stubEnv('OPENAI_API_KEY', key)
  vi.stubEnv('OF_THE_USER', 'of-the-user')
  return new Workplace()
}

/** Everything that a reader may see of the tasks. */
async function everythingReadable(place: Workplace): Promise<string> {
  const tasks = await place.tasks()
  const logs = await Promise.all(tasks.map(async ({ id }) => (await place.errand('logs', id)).out))
  return JSON.stringify(tasks) + logs.join('')
}

async function ask(url: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return await (await fetch(url + path, { headers, ...post })).json()
}

async function serving(place: Workplace, ...args: string[]): Promise<string> {
  const served = place.start('serve', '--port', '0', ...args)
  await served.printed(/^http:\S+$/m)
  return /^http:\S+$/m.exec(served.text())?.[0] ?? ''
}

afterEach(() => void vi.unstubAllEnvs())

it.each([
  ['serve', [], false],
  ['serve', ['--inherit-env'], true],
] as const)(
  'V-10 a command that prints its environment puts no secret of errand %s %j into the ledger',
  async (_verb, flags, inherits) => {
    await using place = setup()
    const url = await serving(place, ...flags)
    const { taskId } = await ask(url, '/tasks', { executor: 'shell', input: { run: 'env; echo the-end' } })
    await ask(url, '/abilities/task:wait', { taskIds: [taskId] })
    const readable = await everythingReadable(place)
    expect(readable).toContain('the-end')
    expect(readable).not.toContain(token)
    expect(readable).not.toContain(key)
    expect(readable.includes('of-the-user')).toBe(inherits)
  },
)

it('V-10 a command of errand run that prints its environment puts no secret into the ledger, and has all other variables', async () => {
  await using place = setup()
  place.write('plan.yaml', 'tasks: { look: { run: "env; echo the-end" } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  const readable = await everythingReadable(place)
  expect(readable).toContain('the-end')
  expect(readable).not.toContain(token)
  expect(readable).not.toContain(key)
  expect(readable).toContain('of-the-user')
})

it('V-10 a command has the default variables in errand repl --work, and all but secrets with --inherit-env', async () => {
  await using place = setup()
  const line =
    'const made = await create({ executor: "shell", input: { run: "env; echo the-end" } }); await engine.result(made)'
  expect((await place.errand('repl', '--work', '-e', line)).code).toBe(0)
  const usual = await everythingReadable(place)
  expect(usual).toContain('the-end')
  expect(usual).not.toContain('of-the-user')
  expect((await place.errand('repl', '--work', '--inherit-env', '-e', line)).code).toBe(0)
  const all = await everythingReadable(place)
  expect(all).toContain('of-the-user')
  expect(all).not.toContain(token)
})

const plan = `
env: { MODEL_KEY: { secret: OPENAI_API_KEY } }
tasks:
  length: { run: 'echo "the key: $MODEL_KEY"; printf %s "$MODEL_KEY" | wc -c' }
`

it('V-10 a secret that the env of a plan refers to reaches its command, is stored as a reference, and is redacted when it is printed', async () => {
  await using place = setup()
  place.write('plan.yaml', plan)
  const { code, out } = await place.errand('run', 'plan.yaml')
  expect([code, out]).toEqual([0, expect.not.stringContaining(key)])
  const task = await place.task('length')
  expect(task.input).toMatchObject({ env: { MODEL_KEY: { secret: 'OPENAI_API_KEY' } } })
  const { stdout } = task.result as { stdout: string }
  expect(stdout.replaceAll(' ', '')).toBe(`thekey:[secretOPENAI_API_KEY]\n${key.length}\n`)
  expect(await everythingReadable(place)).not.toContain(key)
})

it('V-10 a secret that the env of a plan refers to fails its task before the command starts if it is not set', async () => {
  await using place = setup()
  vi.stubEnv('OPENAI_API_KEY', undefined)
  place.write('plan.yaml', `${plan.trimEnd()}\n  ran: { run: 'echo > ran', env: { MODEL_KEY: { secret: NO_SUCH } } }\n`)
  expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
  expect((await place.task('ran')).error).toMatchObject({ code: 'NO_SECRET', details: { secret: 'NO_SUCH' } })
  expect((await place.task('length')).error).toMatchObject({ code: 'NO_SECRET' })
  const { out } = await place.errand('logs', 'ran')
  expect(out).toMatch(/^failed: The command was not started: .*\n$/)
})
