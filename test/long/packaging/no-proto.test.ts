// The built package in processes in which `__proto__` throws (`node --disable-proto=throw`): neither the package nor its dependencies
// may need it, so that users can disable it.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const dist = join(import.meta.dirname, '../../../dist')

const program = `
const [index, http] = process.argv.slice(1)
const { createEngine } = await import(index)
const { createHttp } = await import(http)
const report = {}
try { ({}).__proto__ } catch (error) { report.proto = error.code }
const engine = await createEngine({ ledger: ':memory:', executors: { echo: (task) => task.input } })
const { id } = await engine.create({ executor: 'echo', input: { a: { b: 1 } } })
report.result = await engine.result(id)
const token = 'a-token-that-is-long-enough-for-a-test'
const handler = createHttp(engine, { token, onError: (error) => (report.error = String(error)) })
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
const post = async (body) => (await handler(new Request('http://localhost/tasks', { method: 'POST', headers, body }))).status
report.created = await post('{"name":"a","metadata":{"b":1}}')
report.refused = []
for (const body of ['{"__proto__":{"x":1},"name":"a"}'])
  report.refused.push(await post(body))
report.polluted = ({}).x ?? null
await engine.close()
console.log(JSON.stringify(report))
`

function run(args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const cwd = mkdtempSync(join(tmpdir(), 'errand-no-proto-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'plan.yaml'), 'tasks:\n  hello: { run: "echo hello" }\n')
  return new Promise((resolve) => {
    const options = { cwd, timeout: 60_000, killSignal: 'SIGKILL' } as const
    execFile(process.execPath, ['--disable-proto=throw', ...args], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err })
    })
  })
}

it('the library and HTTP work where `__proto__` throws, and refuse an option of that name', async () => {
  const entries = ['index.js', 'http.js'].map((file) => pathToFileURL(join(dist, file)).href)
  const { code, out, err } = await run(['--input-type=module', '-e', program, ...entries])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toEqual({
    proto: 'ERR_PROTO_ACCESS',
    result: { a: { b: 1 } },
    created: 201,
    refused: [400],
    polluted: null,
  })
})

it('errand run works where `__proto__` throws', async () => {
  const { code, err } = await run([join(dist, 'bin.js'), 'run', 'plan.yaml', '--ledger', 'ledger.db'])
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
})
