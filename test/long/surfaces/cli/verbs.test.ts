import { expect, it } from 'vitest'
import { running, untilFile } from '../../../surfaces/cli/running-plan.ts'
import { Workplace } from '../../../surfaces/cli/workplace.ts'

it('errand cancel ends a running command of another process', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  expect(await place.errand('cancel', id, '--reason', 'enough')).toMatchObject({
    code: 0,
    out: expect.stringContaining('canceled'),
  })
  const { code, out } = await run.ended
  expect(code).toBe(1)
  expect(out).toMatch(/^#\d+ busy canceled: enough$/m)
  expect(out).toMatch(/#\d+ next is blocked by #\d+ busy/)
  expect(place.lines('runs')).toEqual(['start'])
})

it('errand pause ends a command of another process, and resume runs it again', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  expect((await place.errand('pause', id)).code).toBe(0)
  const paused = await run.ended
  expect(paused.code).toBe(3)
  expect(paused.out).toMatch(/‖ #\d+ busy is paused\n +errand resume '#\d+'/)
  const again = place.start('run', 'plan.yaml')
  expect((await again.ended).code).toBe(3)
  expect((await place.errand('resume', id)).code).toBe(0)
  place.write('go', '')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  expect(place.lines('runs')).toEqual(['start', 'start', 'end', 'next'])
})

it('errand answer lets a run in another process continue', async () => {
  await using place = new Workplace()
  place.write(
    'plan.yaml',
    `tasks: { busy: { run: "${untilFile('go')}" }, which: { ask: Which? }, b: { run: "echo $ERRAND_RESULT_which >> runs", after: which } }`,
  )
  const run = place.start('run', 'plan.yaml')
  await run.printed(/which +asks: Which\?/)
  const { seq } = await place.task('which')
  expect((await place.errand('answer', `#${seq}`, '{"a":1}')).code).toBe(0)
  await run.printed(/b +completed/)
  place.write('go', '')
  expect((await run.ended).code).toBe(0)
  expect(place.lines('runs')).toEqual(['{"a":1}'])
})

it('errand add creates a task that a run in another process executes; why, show, tree and graph show it', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  const added = await place.errand(
    'add',
    'extra',
    '--run',
    'echo extra >> runs',
    '--after',
    id,
    '--key',
    'k',
    '--priority',
    '5',
  )
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^task-[a-z0-9]+\n$/) })
  const extra = added.out.trim()
  expect(
    (await place.errand('add', 'extra', '--run', 'echo extra >> runs', '--after', id, '--key', 'k')).out.trim(),
  ).toBe(extra)
  expect((await place.errand('why', extra)).out).toMatch(/busy/)
  expect(JSON.parse((await place.errand('why', extra, '--json')).out)).toMatchObject({
    reason: 'blocked',
    tasks: [id],
  })
  expect((await place.errand('show', extra.slice(5, 12))).out).toMatch(/^status +submitted$/m)
  expect((await place.errand('tree')).out).toMatch(/└─ #\d+ next blocked/)
  expect((await place.errand('graph')).out).toMatch(/t\d+ --> t\d+/)
  expect(await place.errand('ps', '--status', 'working', '--json')).toMatchObject({
    out: expect.stringContaining(id),
  })
  expect((await place.errand('ps', '--status', 'running', '--json')).out).toContain(id)
  expect((await place.errand('ps', '--status', 'success', '--json')).out).not.toContain(id)
  expect((await place.errand('ps', '--status', 'runing')).err).toContain('Did you mean "running"?')
  place.write('go', '')
  expect((await run.ended).code).toBe(0)
})
