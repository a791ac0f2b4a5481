// What commands say about tasks: no internals, and nothing that misleads.
import { expect, it } from 'vitest'
import { Workplace } from './workplace.ts'

const plan = `name: p
tasks:
  ok: { run: echo hi }
  bad: { run: 'test -e go' }
`

it('errand show leaves out what a plan keeps of its task, and --json has it', async () => {
  await using place = new Workplace()
  place.write('p.yaml', plan)
  await place.errand('run', 'p.yaml')
  const { out } = await place.errand('show', 'ok')
  expect(out).toContain('echo hi')
  expect(out).not.toMatch(/^metadata|^createdBy|invocation/m)
  const { out: json } = await place.errand('show', 'ok', '--json')
  expect(JSON.parse(json).metadata.plan).toMatchObject({ path: 'ok' })
})

it('errand run --dry-run does not say of a task that ran that it has not', async () => {
  await using place = new Workplace()
  place.write('p.yaml', plan)
  await place.errand('run', 'p.yaml')
  await place.errand('retry', 'bad')
  const { out } = await place.errand('run', 'p.yaml', '--dry-run')
  expect(out).toMatch(/^continue +bad +it waits to run$/m)
})

it('errand send says of a command that it reads no message', async () => {
  await using place = new Workplace()
  await place.errand('add', '--run', 'sleep 1', '--name', 'slow')
  const { out } = await place.errand('send', 'slow', 'hello')
  expect(out).toBe('#1 slow queued, message sent, which no command reads\n')
})
