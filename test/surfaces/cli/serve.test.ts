// `errand serve`, the built program: it works on its ledger while it serves it, prints its token once, and releases tasks when it stops.
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ErrandProcess, Workplace } from './workplace.ts'

const token = 'a-token-that-is-long-enough-for-a-test'

async function serving(place: Workplace, ...args: string[]): Promise<{ process: ErrandProcess; url: string }> {
  place.write('token', `${token}\n`)
  const process = place.start('serve', '--port', '0', '--token-file', 'token', ...args)
  await process.printed(/^http:\S+$/m)
  return { process, url: /^http:\S+$/m.exec(process.text())?.[0] ?? '' }
}

async function ask(url: string, path: string, body?: object): Promise<any> {
  const authorization = `Bearer ${token}`
  const post = {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization, 'content-type': 'application/json' },
  }
  const response = await fetch(url + path, body === undefined ? { headers: { authorization } } : post)
  return await response.json()
}

/** Waits over HTTP until the task is settled. */
async function settled(url: string, taskId: string): Promise<any> {
  await ask(url, '/abilities/task:wait', { taskIds: [taskId] })
  return (await ask(url, `/tasks/${taskId}`)).task
}

/** Reads a stream until it contains this. */
async function said(stream: Response, pattern: RegExp): Promise<void> {
  let all = ''
  for await (const chunk of stream.body ?? []) {
    all += Buffer.from(chunk).toString()
    if (pattern.test(all)) return
  }
  throw new Error(`It ended without telling ${pattern}: ${all}`)
}

it('errand serve runs existing and new tasks, with the given files and models', async () => {
  await using place = new Workplace()
  place.write('script.json', JSON.stringify([{ text: 'The answer is 42.' }]))
  await place.errand('add', 'before', '--run', 'echo before > before.txt')
  const { process, url } = await serving(place, '--model', 'script:script.json')
  const { taskId } = await ask(url, '/tasks', { executor: 'shell', input: { run: 'echo hello' } })
  expect(await settled(url, taskId)).toMatchObject({ status: 'completed', result: { stdout: 'hello\n' } })
  const { taskId: goalId } = await ask(url, '/tasks', { goal: 'What is the answer?' })
  expect(await settled(url, goalId)).toMatchObject({ status: 'completed', result: 'The answer is 42.' })
  const before = await place.task('before')
  await settled(url, before.id)
  expect(place.lines('before.txt')).toEqual(['before'])
  process.kill('SIGTERM')
  expect(await process.ended).toEqual({
    code: 130,
    out: `${url}\n`,
    err: expect.stringMatching(/\nStopping: .*\n$/) as string,
  })
})

it('errand serve --plans runs plans that clients send, in that folder', async () => {
  await using place = new Workplace()
  mkdirSync(join(place.folder, 'work'))
  const { process, url } = await serving(place, '--plans', 'work')
  const plan = { name: 'hello', tasks: { greet: { run: 'echo hello > greeting' } } }
  const { tasks } = await ask(url, '/plans', { plan })
  expect(tasks).toMatchObject([{ path: 'greet' }])
  expect(await settled(url, tasks[0].taskId)).toMatchObject({ status: 'completed' })
  expect(place.lines('work/greeting')).toEqual(['hello'])
  const outside = { name: 'outside', cwd: '..', tasks: { greet: { run: 'pwd' } } }
  expect(await ask(url, '/plans', { plan: outside })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  process.kill('SIGTERM')
  await process.ended
})

it('errand serve releases a running command when it is stopped, and the next one continues', async () => {
  await using place = new Workplace()
  const first = await serving(place)
  const { taskId } = await ask(first.url, '/tasks', {
    executor: 'shell',
    input: { run: 'echo started | tee -a log; test -e go || exec sleep 600; echo done >> log' },
  })
  const stream = await fetch(`${first.url}/tasks/${taskId}/stream`, { headers: { authorization: `Bearer ${token}` } })
  await said(stream, /"started\\n"/)
  first.process.kill('SIGINT')
  expect((await first.process.ended).code).toBe(130)
  expect(await place.task('shell')).toMatchObject({ status: 'waiting', statusReason: 'released' })
  place.write('go', '')
  const second = await serving(place)
  expect(await settled(second.url, taskId)).toMatchObject({ status: 'completed' })
  expect(place.lines('log')).toEqual(['started', 'started', 'done'])
  second.process.kill('SIGINT')
  await second.process.ended
})

it('errand serve --no-work leaves ready tasks to other processes', async () => {
  await using place = new Workplace()
  const { process, url } = await serving(place, '--no-work', '--no-page')
  const { taskId } = await ask(url, '/tasks', { executor: 'shell', input: { run: 'true' } })
  expect(await ask(url, '/status')).toMatchObject({ working: false })
  expect((await ask(url, `/tasks/${taskId}`)).task).toMatchObject({ status: 'submitted' })
  expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404)
  process.kill('SIGINT')
  await process.ended
})

it('errand serve prints a new token once, and never prints a given one', async () => {
  await using place = new Workplace()
  for (const [flags, expected] of [
    [[], /^http:\/\/127\.0\.0\.1:\d+\/#token=[a-z2-7]{52}\n$/],
    [['--no-page'], /^http:\/\/127\.0\.0\.1:\d+\ntoken: [a-z2-7]{52}\n$/],
    [['--json'], /^\{"url":"http:\/\/127\.0\.0\.1:\d+","token":"[a-z2-7]{52}"\}\n$/],
  ] as const) {
    const process = place.start('serve', '--port', '0', '--no-work', ...flags)
    await process.printed(/token.*[a-z2-7]{52}/)
    process.kill('SIGINT')
    const { out, err } = await process.ended
    expect(out).toMatch(expected)
    expect(err.replace(place.newLedger, '')).toMatch(/^Stopping/)
  }
  const given = await serving(place, '--no-work')
  given.process.kill('SIGINT')
  const ended = await given.process.ended
  expect(ended.out + ended.err).not.toContain(token)
})

it('errand serve reports a port that is in use', async () => {
  await using place = new Workplace()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, err } = await place.errand('serve', '--port', `${port}`)
  other.close()
  expect({ code, err: err.split('\n').at(-2) }).toEqual({
    code: 2,
    err: expect.stringMatching(/^errand: Cannot listen at this address: .*EADDRINUSE.*--port/) as string,
  })
})

it.each([
  ['an invalid port', ['--port', 'x'], /--port takes/],
  ['a port above 65535', ['--port', '65536'], /port/],
  ['a concurrency of 0', ['--concurrency', '0'], /--concurrency takes/],
  ['--concurrency with --no-work', ['--no-work', '--concurrency', '2'], /--concurrency has no effect with --no-work/],
  ['a token that is too short', ['--token-file', 'short'], /The token in short must have at least 32/],
  ['a missing token file', ['--token-file', 'none'], /Cannot read the token/],
  ['a model without a key', ['--model', 'openai:gpt-5-mini'], /OPENAI_API_KEY/],
  ['an unknown option', ['--prot', '1'], /--port/],
])('errand serve refuses %s, before it starts anything', async (_what, args, words) => {
  await using place = new Workplace()
  place.write('short', 'short')
  const { code, err } = await place.errand('serve', ...args)
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(words) as string })
})

it('errand serve --log writes what runs do as lines of JSON to stderr', async () => {
  await using place = new Workplace()
  const { process, url } = await serving(place, '--log')
  const { taskId } = await ask(url, '/tasks', { executor: 'shell', input: { run: 'echo secret' } })
  await settled(url, taskId)
  process.kill('SIGTERM')
  const { err } = await process.ended
  const lines = err.split('\n').filter((line) => line.startsWith('{'))
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'engine works',
    'run started',
    'task completed',
    'engine closed',
  ])
  expect(JSON.parse(lines[2] as string)).toMatchObject({ level: 'info', taskId, executor: 'shell', attempt: 1, run: 1 })
  expect(lines.join()).not.toContain('secret')
})
