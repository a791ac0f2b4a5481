// Answers from outside are fetched before the transaction of a step, which runs once unless another writer interferes.
import { describe, expect, it } from 'vitest'
import type { MemoryOptions } from '../../src/engine/engine-api.ts'
import { likeness, wordsOf } from '../../src/entities/fact-tokens.ts'
import { deferred, refusalOf } from '../engine/world.ts'
import { listing, openMemory } from './world.ts'

const thirty = 'requests to the billing service time out after 30 seconds'
const sixty = 'requests to the billing service time out after 60 seconds'
const odd = 'the scheduler prefers odd task numbers always'
const even = 'the scheduler prefers even task numbers always'

/** Functions that list what they are asked. */
function functions() {
  const asked: string[] = []
  const memory = {
    threshold: 0.7,
    similarity: async (a, b) => {
      asked.push(`alike: ${[a, b].sort().join(' / ')}`)
      return Promise.resolve(likeness(wordsOf(a), wordsOf(b)))
    },
    contradicts: async (there, incoming) => {
      asked.push(`contrary: ${there.branch} ${there.text} / ${incoming.branch} ${incoming.text}`)
      return Promise.resolve(there.text === odd && incoming.text.startsWith(even))
    },
    onContradiction: async (there, incoming) => {
      asked.push(`holds: ${there.branch} ${there.text} / ${incoming.branch} ${incoming.text}`)
      return Promise.resolve(there.text === odd ? 'second' : 'keep-both')
    },
  } satisfies MemoryOptions
  return { asked, memory }
}

async function openCounted(options: Parameters<typeof openMemory>[0] = {}) {
  const ran: string[] = []
  const world = await openMemory(options, (ledger) => listing(ledger, ran))
  return { ...world, ran: (name: string) => ran.filter((step) => step === name).length }
}

describe('A step of memory', () => {
  it('with functions each step runs once, although its later questions depend on earlier answers', async () => {
    const { memory } = functions()
    const { call, team, session, facts, known, ran } = await openCounted({ memory })
    const { taskId, branch, on } = await team('Billing', 'ada', 'bob')
    const see = (agentId: string, content: string) =>
      call('mem:observe', { sessionId: agentId, taskId, agentId, type: 'decision', content })
    for (const text of [thirty, sixty, odd, even, `${even}.`]) await see('ada', text)
    for (const text of [sixty, even, `${sixty}!`]) await see('bob', text)
    await session('ada', { taskId, agentId: 'ada' })
    await call('agent:complete', { taskId, agentId: 'ada' })
    await call('task:complete', { taskId, agents: 'complete' })
    await call('mem:consolidate', { level: 'project' })
    expect((await facts(on('ada'))).filter(({ status }) => status === 'superseded')).toMatchObject([{ text: odd }])
    expect((await known(branch)).sort()).toEqual([`0.7 ${thirty}`, `0.9 ${sixty}`, `0.9 ${even}`])
    const names = ['consolidate session', 'complete agent', 'complete team task', 'consolidate project']
    expect(names.map(ran)).toEqual([1, 1, 1, 1])
  })

  it('with functions nothing is asked twice', async () => {
    const { memory, asked } = functions()
    const { see, session, ran } = await openCounted({ memory })
    for (const text of [thirty, sixty, odd, even]) await see(text)
    await session()
    expect(asked.filter((question) => question.startsWith('holds'))).toEqual([
      `holds: main ${thirty} / main ${sixty}`,
      `holds: main ${odd} / main ${even}`,
    ])
    expect(new Set(asked).size).toBe(asked.length)
    expect(ran('consolidate session')).toBe(1)
  })

  it('with embeddings each step runs once, and new texts are requested together', async () => {
    const asked: string[][] = []
    const embeddingModel = {
      specificationVersion: 'v3' as const,
      provider: 'test',
      modelId: 'letters',
      maxEmbeddingsPerCall: 100,
      doEmbed: async ({ values }: { values: string[] }) => {
        asked.push(values)
        return Promise.resolve({ embeddings: values.map((text) => [text.length, text.includes('30') ? 9 : 0]) })
      },
    }
    const { see, session, call, team, ran } = await openCounted({
      memory: { similarity: 'embeddings' },
      embeddingModel,
    })
    await see('the first text of all')
    await session()
    const { taskId } = await team('Billing', 'ada')
    const texts = [thirty, sixty, odd, even]
    for (const content of texts) await see(content, { taskId, agentId: 'ada', sessionId: 's2' })
    await call('agent:complete', { taskId, agentId: 'ada' })
    await call('task:complete', { taskId })
    expect(asked).toEqual([['the first text of all'], texts])
    expect([ran('consolidate session'), ran('complete agent'), ran('complete team task')]).toEqual([1, 1, 1])
  })

  it('a fact that another writer adds before the step is compared too, in a second run', async () => {
    const [asked, go] = [deferred(), deferred()]
    const compared: string[] = []
    const similarity = async (a: string, b: string) => {
      compared.push([a, b].sort().join(' / '))
      asked.resolve()
      await go.promise
      return a.length === b.length ? 1 : 0
    }
    const { see, session, call, known, ran } = await openCounted({ memory: { similarity } })
    await call('mem:remember', { text: 'abc' })
    await see('wxyz')
    const consolidated = session()
    await asked.promise
    await call('mem:remember', { text: 'efgh' })
    go.resolve()
    expect(await consolidated).toMatchObject({ factsCreated: 0, factsUpdated: 1 })
    expect(await known()).toEqual(['0.7 abc', '0.8 efgh'])
    expect(compared).toEqual(['abc / wxyz', 'efgh / wxyz'])
    expect(ran('consolidate session')).toBe(2)
  })

  it('with functions a branch is archived, and a task without a team completed, in one run each', async () => {
    const { memory, asked } = functions()
    const { call, engine, team, known, ran } = await openCounted({ memory })
    const { branch } = await team('Billing')
    for (const content of [odd, even]) await call('mem:observe', { sessionId: 's', branch, type: 'insight', content })
    await call('mem:archive', { branch })
    expect(await known(branch)).toEqual([`0.7 ${even}`])
    const { id: taskId } = await engine.create({ name: 'Alone' })
    await call('mem:remember', { text: sixty, category: 'security', confidence: 0.9 })
    await call('task:complete', { taskId })
    expect([ran('archive branch'), ran('complete team task'), asked.length]).toEqual([1, 1, 3])
  })

  it('a task that cannot be completed is refused before anything is asked', async () => {
    const { memory, asked } = functions()
    const { call, team, ran } = await openCounted({ memory })
    const { taskId } = await team('Billing')
    for (const content of [thirty, sixty]) {
      await call('mem:observe', { sessionId: 's', taskId, type: 'insight', content })
    }
    await call('task:cancel', { taskId })
    await refusalOf(call('task:complete', { taskId }), 'INVALID_TRANSITION')
    expect([asked, ran('complete team task')]).toEqual([[], 1])
  })
})
