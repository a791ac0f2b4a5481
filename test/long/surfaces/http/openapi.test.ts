// A client that is generated from the OpenAPI document does the work of a team.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeListener } from '../../../../src/surfaces/http/index.ts'
import { openWorld, token } from '../../../surfaces/http/world.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')

/** The work of a team as in the documents of day1, by a client that was generated from the OpenAPI document. */
const scenario = `
import * as api from './client.ts'
api.defaults.baseUrl = process.env['BASE_URL'] as string
api.defaults.headers = { authorization: 'Bearer ' + process.env['TOKEN'] }
const created = await api.createTask({ name: 'Fix the login', objectives: ['Fix it', 'Test it'] }, {})
const { taskId, branch } = created
const joined: string[] = []
for (const agentId of ['ann', 'bob']) {
  const { branch } = await api.joinTask(taskId, { agentId, role: 'implementer' }, {})
  joined.push(branch)
}
await api.updateObjective(taskId, 1, { status: 'done', agentId: 'ann' }, {})
await api.updateObjective(taskId, 2, { status: 'done', agentId: 'bob' }, {})
await api.callAbilityMemObserve({ taskId, agentId: 'ann', sessionId: 's', type: 'decision', content: 'Tokens are renewed by the middleware' })
for (const agentId of ['ann', 'bob']) await api.completeAgent(taskId, agentId, { summary: 'did it' }, {})
const done = await api.completeTask(taskId, { summary: 'fixed' }, {})
const consolidated = await api.consolidate(taskId, { level: 'task' }, {})
const context = await api.getContext(taskId, {})
const missing = await api.getTask('missing').catch((error) => error.status + ' ' + error.data?.code)
console.log(JSON.stringify({ taskId, branch, joined, status: done.status, consolidated, progress: context.progress, missing }))
`

it('X-030 S2-050 a client generated from the OpenAPI document supports the work of a team over a real server, with types', async () => {
  const world = await openWorld()
  const server = createServer(toNodeListener(world.http.fetch, (error) => world.errors.push(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const folder = await mkdtemp(join(tmpdir(), 'errand-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(world.http.openapi()))
  await run(join(root, 'node_modules/.bin/oazapfts'), [
    '--optimistic',
    join(folder, 'openapi.json'),
    join(folder, 'client.ts'),
  ])
  await writeFile(join(folder, 'scenario.ts'), scenario)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { ...process.env, BASE_URL: url, TOKEN: token }
  const flags =
    '--strict --noEmit --skipLibCheck --allowImportingTsExtensions --module nodenext --target es2024 --types node'
  const script = join(folder, 'scenario.ts')
  const checked = await run(join(root, 'node_modules/.bin/tsc'), [...flags.split(' '), script], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error)
  expect(checked.stdout).toBe('')
  const { stdout } = await run(process.execPath, ['--experimental-transform-types', '--no-warnings', script], { env })
  const result = JSON.parse(stdout)
  expect(result).toMatchObject({
    status: 'completed',
    consolidated: { durable: expect.any(Array) },
    progress: { total: 2, done: 2 },
    missing: '404 NOT_FOUND',
  })
  expect(result.joined).toEqual([expect.stringContaining('ann'), expect.stringContaining('bob')])
  expect((await world.engine.get(result.taskId))?.status).toBe('completed')
  expect(world.errors).toEqual([])
})
