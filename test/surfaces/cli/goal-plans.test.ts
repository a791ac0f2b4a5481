// Plans with goals: the model of each, running without a model, and changes of the definition of an agent.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'
import { call } from './agent-workplace.ts'
import { planOf } from './plan-text.ts'
import { Workplace } from './workplace.ts'

const says = (words: string) => `- text: "${words}"`

it('a plan passes results to an agent, and the answer of the agent to later tasks', async () => {
  await using place = new Workplace()
  await using fake = await startFakeOpenAi([{ text: 'short' }])
  place.write(
    'plan.yaml',
    `
tasks:
  report: { run: echo many words }
  summary: { after: report, goal: "Summarise report.txt", model: "local:gpt", system: "Be brief.", input: { words: 1 } }
  publish: { after: summary, run: 'echo "$ERRAND_RESULT_summary" > published' }
`,
  )
  const { code, out } = await call(place, ['run', 'plan.yaml'], { env: { LOCAL_BASE_URL: fake.baseURL } }).ended
  expect(code).toBe(0)
  expect(out).toMatch(/^#3 summary completed in /m)
  expect(out).toMatch(/^#3 summary its provider read \d+ tokens of about \d+: /m)
  expect(place.lines('published')).toEqual(['short'])
  const body = fake.requests[0]?.body as { model: string; messages: Array<{ role: string; content: string }> }
  expect(body.model).toBe('gpt')
  expect(body.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('Be brief.') })
  expect(body.messages[0]?.content).not.toContain('many words')
  expect(body.messages[1]?.content).toContain('"words": 1')
  expect(body.messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringContaining('many words') })
})

it('the model of a goal comes from the task, else from --model, the plan, or the environment', async () => {
  await using place = new Workplace()
  for (const name of ['own', 'flag', 'top', 'env']) place.write(`${name}.yaml`, says(`by ${name}`))
  const results = async (plan: string, ...args: string[]) => {
    place.write('plan.yaml', plan)
    const world = { env: { ERRAND_MODEL: 'script:env.yaml' } }
    expect((await call(place, ['run', 'plan.yaml', '--again', ...args], world).ended).code).toBe(0)
    return [(await place.task('a')).result, (await place.task('b')).result]
  }
  const tasks = 'tasks: { a: { goal: x, model: "script:own.yaml" }, b: { goal: y } }'
  expect(await results(tasks)).toEqual(['by own', 'by env'])
  expect(await results(`model: "script:top.yaml"\n${tasks}`)).toEqual(['by own', 'by top'])
  expect(await results(`model: "script:top.yaml"\n${tasks}`, '--model', 'script:flag.yaml')).toEqual([
    'by own',
    'by flag',
  ])
})

it('errand run without a model leaves a goal open and says how to give one; with a model it completes the goal', async () => {
  await using place = new Workplace()
  place.write('script.yaml', says('done'))
  place.write('plan.yaml', 'tasks: { a: { goal: Think, system: Hard, retry: 2 }, b: { after: a, run: "echo b" } }')
  const first = await place.errand('run', 'plan.yaml')
  expect(first.code).toBe(3)
  expect(first.err).toMatch(/"a" has a goal, and no model is configured, so it waits for one\. Give one with --model/)
  expect(first.out).toMatch(/#2 a is queued\n +errand why/)
  const [before] = (await place.tasks()).filter((task) => task.name === 'a')
  const second = await place.errand('run', 'plan.yaml', '--model', 'script:script.yaml')
  expect(second.code).toBe(0)
  expect(second.out).toMatch(/2 tasks completed/)
  const goals = (await place.tasks()).filter((task) => task.name === 'a')
  expect(goals).toMatchObject([{ id: before?.id, status: 'completed', executor: 'agent' }])
})

it('errand run without a model leaves a started goal open', async () => {
  await using place = new Workplace()
  place.write('script.yaml', '- tools: [{ name: ask_user, input: { question: "Go on?" } }]\n- text: done')
  place.write('plan.yaml', 'tasks: { a: { goal: Think } }')
  expect((await place.errand('run', 'plan.yaml', '--model', 'script:script.yaml')).code).toBe(3)
  await place.errand('answer', '#2', 'yes')
  const without = await place.errand('run', 'plan.yaml')
  expect(without.code).toBe(3)
  expect(without.err).toContain('"a" has a goal, and no model is configured')
  expect((await place.errand('run', 'plan.yaml', '--model', 'script:script.yaml')).code).toBe(0)
})

it('errand run reports a missing key before it creates anything, and requires none for a completed plan', async () => {
  await using place = new Workplace()
  place.write('plan.yaml', 'tasks: { a: { run: echo ran >> runs }, b: { goal: x, model: "openai:gpt-5-mini" } }')
  const { code, err } = await call(place, ['run', 'plan.yaml']).ended
  expect(code).toBe(2)
  expect(err).toContain('OPENAI_API_KEY')
  expect(await place.tasks()).toEqual([])
  await using fake = await startFakeOpenAi([{ text: 'ok' }])
  const env = { OPENAI_BASE_URL: fake.baseURL }
  expect((await call(place, ['run', 'plan.yaml'], { env }).ended).code).toBe(0)
  expect((await call(place, ['run', 'plan.yaml']).ended).out).toContain('nothing to do')
})

it('V-04 errand run refuses scripts of models outside of the folder of the plan, before it creates anything', async () => {
  await using place = new Workplace()
  place.write('script.yaml', says('done'))
  mkdirSync(join(place.folder, 'plans'))
  const plan = (model: string) => place.write('plans/plan.yaml', `tasks: { a: { goal: x, model: "script:${model}" } }`)
  for (const model of ['/etc/passwd', '../script.yaml']) {
    plan(model)
    const { code, err } = await place.errand('run', 'plans/plan.yaml')
    expect([code, err]).toEqual([2, expect.stringContaining('it is in another folder, or hidden') as string])
  }
  expect(await place.tasks()).toEqual([])
  plan('script.yaml')
  place.write('plans/script.yaml', says('by the plan'))
  expect((await place.errand('run', 'plans/plan.yaml')).code).toBe(0)
  expect((await place.task('a')).result).toBe('by the plan')
})

it('errand run retries a failed agent, and starts it over after a change of its definition', async () => {
  await using place = new Workplace()
  place.write('script.yaml', '- error: { status: 400, message: refused }')
  place.write('plan.yaml', 'model: "script:script.yaml"\ntasks: { a: { goal: First }, b: { after: a, run: "echo b" } }')
  expect((await place.errand('run', 'plan.yaml')).code).toBe(1)
  const before = await place.task('a')
  place.write('script.yaml', says('done'))
  place.write(
    'plan.yaml',
    'model: "script:script.yaml"\ntasks: { a: { goal: Second }, b: { after: a, run: "echo b" } }',
  )
  expect((await place.errand('run', 'plan.yaml', '--dry-run')).out).toMatch(
    /redo +a +it failed, its agent begins again/,
  )
  expect((await place.errand('run', 'plan.yaml')).code).toBe(0)
  const after = await place.task('a')
  expect(after).toMatchObject({ goal: 'Second', status: 'completed', attempt: 1 })
  expect(after.id).not.toBe(before.id)
})

it('errand run keeps the definition of a started goal, and says so', async () => {
  await using place = new Workplace()
  place.write('script.yaml', '- tools: [{ name: ask_user, input: { question: "Go on?" } }]\n- text: done')
  place.write('plan.yaml', 'model: "script:script.yaml"\ntasks: { a: { goal: First } }')
  await place.errand('run', 'plan.yaml')
  place.write('plan.yaml', 'model: "script:script.yaml"\ntasks: { a: { goal: Second } }')
  const { code, err } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(3)
  expect(err).toContain('"a" keeps its old definition, which is part of its conversation')
  expect((await place.task('a')).goal).toBe('First')
})

it('an agent of a plan can read the folder of the plan, and cannot create commands', async () => {
  await using place = new Workplace()
  const spawn = { goal: 'x', executor: 'shell', input: { run: 'touch broken-out' } }
  place.write('note.txt', 'the note\n')
  place.write(
    'script.yaml',
    `- tools: [{ name: fs_read, input: { path: note.txt } }, { name: task_create, input: ${JSON.stringify(spawn)} }]\n- text: done`,
  )
  place.write('plan.yaml', 'files: .\nmodel: "script:script.yaml"\ntasks: { a: { goal: Read } }')
  const { code, out } = await place.errand('run', 'plan.yaml')
  expect(code).toBe(0)
  expect(out).toContain('a calls fs:read {"path":"note.txt"}')
  expect(out).toMatch(/^#2 a task:create failed: /m)
  expect(place.lines('broken-out')).toEqual([])
  const { id } = await place.task('a')
  expect((await place.errand('logs', id)).out).toContain('fs:read returned {"text":"the note"')
})

it('errand run shows subtasks of an agent below it, and asks their questions', async () => {
  await using place = new Workplace()
  place.write(
    'script.yaml',
    `
- when: { goal: '/^root/' }
  tools: [{ name: task_create, input: { goal: "the part" } }]
- when: { goal: '/^root/' }
  tools: [{ name: wait_for_tasks }]
- when: { goal: '/^root/' }
  text: "All of it."
- when: { goal: the part }
  tools: [{ name: ask_user, input: { question: "How?" } }]
- when: { goal: the part }
  text: "Like that."
`,
  )
  place.write('plan.yaml', 'model: "script:script.yaml"\ntasks: { a: { goal: root } }')
  const first = await place.errand('run', 'plan.yaml')
  expect(first.code).toBe(3)
  expect(first.out).toMatch(/^a\/the part asks: How\?$/m)
  expect(first.out).toMatch(/^\? #3 the part asks: How\?$/m)
  await place.errand('answer', '#3', 'so')
  const second = await place.errand('run', 'plan.yaml')
  expect(second.code).toBe(0)
  expect(second.out).toMatch(/✓ 1 task completed/)
})

it('the keys of a goal in a plan become the fields of an agent', () => {
  const plan = planOf(`
model: openai:gpt-5-mini
files: notes
maxIterations: 5
tasks:
  a: { goal: Do it, system: Well., abilities: "fs:read, task:*", model: "ollama:x", timeout: 1m, retry: 2 }
  b: { goal: Do it, systemPrompt: Well. }
`)
  expect(plan).toMatchObject({ model: 'openai:gpt-5-mini', maxIterations: 5 })
  expect(plan.files).toBe(`${plan.folder}/notes`)
  expect(plan.byPath.get('a')?.spec).toMatchObject({
    executor: 'agent',
    goal: 'Do it',
    systemPrompt: 'Well.',
    abilities: ['fs:read', 'task:*'],
    model: 'ollama:x',
    timeoutMs: 60_000,
    retry: { maxAttempts: 2 },
  })
  expect(plan.byPath.get('b')?.spec).toMatchObject({ systemPrompt: 'Well.' })
})
