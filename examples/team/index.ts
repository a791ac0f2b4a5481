// Three agents repair a login, one after the other, each on its own branch of memory. Their observations become facts when they end;
// a fact that two of them saw gets a higher confidence, and durable facts are merged into `main`, where the agent of another task
// recalls them. The models play scripts, without network and keys.
import { agent, createEngine } from 'errand'
import { createScriptedModel, type ScriptedPrompt, type ScriptedTurn } from 'errand/testing'

/** A model that plays the n-th answer in its n-th step. Its context of the team is in the first message, after its goal. */
const plays = (turns: (team: { taskId: string; context: string }) => ScriptedTurn[]) =>
  createScriptedModel(({ turn, messages }: ScriptedPrompt) => {
    const [, ...opening] = (messages.find(({ role }) => role === 'user')?.text ?? '').split('\n\n')
    const context = opening.join('\n\n')
    return turns({ taskId: /task-\w+/.exec(context)?.[0] ?? '', context })[turn] ?? { text: 'I have nothing to add.' }
  })

const observed = (type: 'discovery' | 'decision', content: string) => ({
  name: 'mem_observe',
  input: { type, content },
})
const done = (taskId: string, objectiveId: number) => ({
  name: 'objective_update',
  input: { taskId, objectiveId, status: 'done' },
})

const lax = 'The session cookie is SameSite=Lax, for the redirect after the login comes from another site.'

const finder = plays(({ taskId }) => [
  { tools: [observed('discovery', 'The redirect after the login drops the session cookie.'), done(taskId, 1)] },
  { text: 'The login fails because its cookie is lost on the way.' },
])
const fixer = plays(({ taskId }) => [
  { tools: [observed('decision', lax), done(taskId, 2)] },
  { text: 'The cookie gets through now.' },
])
const reviewer = plays(({ taskId }) => [
  { tools: [observed('decision', lax), done(taskId, 3)] },
  { text: 'Two browsers keep the cookie.' },
])
const newcomer = plays(({ context }) => [{ text: `My context: ${context}` }])

await using engine = await createEngine({
  executors: {
    finder: agent({ model: finder }),
    fixer: agent({ model: fixer }),
    reviewer: agent({ model: reviewer }),
    newcomer: agent({ model: newcomer }),
  },
})

const task = await engine.create({
  name: 'Repair the login',
  objectives: ['Find the cause', 'Repair it', 'Try it in two browsers'],
  tasks: {
    find: { executor: 'finder', goal: 'Why does the login fail?' },
    repair: { executor: 'fixer', goal: 'Repair the login.', after: 'find' },
    review: { executor: 'reviewer', goal: 'Is the login repaired?', after: 'repair' },
  },
})
for await (const { type, data } of engine.events({ taskId: task.id })) {
  if (type === 'agent.completed') console.log(`${String(data['agentId'])} has ended.`)
  if (type === 'team.closed') break
}

const { text } = await engine.bus.call('task:context', { taskId: task.id, format: 'text' })
console.log(`\n${text}`)

console.log('\nWhat main keeps of it:')
const { facts } = await engine.bus.call('mem:facts', { branch: 'main' })
for (const { category, confidence, text: fact } of facts) console.log(`- [${category} ${confidence}] ${fact}`)

const later = await engine.create({ executor: 'newcomer', goal: 'Which SameSite has the session cookie?' })
console.log(`\nAnother task, later.\n${await engine.result(later)}`)
