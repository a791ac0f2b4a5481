// Similarity by a function, or by vectors through `model:embed`.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { redactionBy } from '../../src/core/redact.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Op } from '../../src/ledger/ledger.ts'
import type { MemoryHost } from '../../src/memory/memory-host.ts'
import { memorySettings } from '../../src/memory/memory-settings.ts'
import { runMemoryStep } from '../../src/memory/memory-step.ts'
import { observe } from '../../src/memory/record-observation.ts'
import { refusalOf } from '../engine/world.ts'
import { openMemory } from './world.ts'

const car = 'the car is red'
const auto = 'a crimson automobile'
const tree = 'trees lose leaves in autumn'

/** Simple vectors by the subject of a text. */
const meanings: Record<string, number[]> = {
  [car]: [1, 0.1, 0],
  [auto]: [1, 0.15, 0],
  [tree]: [0, 0, 1],
  'the vehicle has a red colour': [0.98, 0.12, 0.01],
}

function embedder({ maxEmbeddingsPerCall }: { maxEmbeddingsPerCall?: number } = {}) {
  const asked: string[][] = []
  return {
    asked,
    model: {
      specificationVersion: 'v3' as const,
      provider: 'test',
      modelId: 'meaning',
      maxEmbeddingsPerCall,
      async doEmbed({ values }: { values: string[] }) {
        asked.push(values)
        return Promise.resolve({ embeddings: values.map((text) => meanings[text] ?? [0, 1, 0]) })
      },
    },
  }
}

describe('A similarity function', () => {
  it('S2-103 Q-08 a similarity function, synchronous or not, replaces the comparison by words, with its own threshold', async () => {
    const asked: string[] = []
    const similarity = async (a: string, b: string) => {
      asked.push([a, b].sort().join(' / '))
      return Promise.resolve(a.length === b.length ? 0.6 : 0.5)
    }
    const { see, session, known } = await openMemory({ memory: { similarity, threshold: 0.5 } })
    await see('abcd')
    await see('efgh')
    await see('ijklm')
    expect(await session()).toMatchObject({ factsCreated: 2, factsUpdated: 1 })
    expect(await known()).toEqual(['0.8 abcd', '0.7 ijklm'])
    expect(asked.sort()).toEqual([...new Set(asked)].sort())
  })

  it('S2-103 a similarity function has the threshold of words by default', async () => {
    const { see, session } = await openMemory({ memory: { similarity: () => 0.85 } })
    await see('one text')
    await see('another text')
    expect(await session()).toMatchObject({ factsCreated: 2 })
  })

  it('a similarity function is called only for facts with a common word if so configured', async () => {
    const asked: string[] = []
    const { see, session } = await openMemory({
      memory: { candidates: 'words', similarity: (a, b) => Math.min(1, asked.push(`${a} / ${b}`)) },
    })
    await see('red car')
    await see('green tree')
    await see('blue car')
    await session()
    expect(asked).toEqual(['blue car / red car'])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('out of order')
      },
      'out of order',
    ],
    ['rejects', () => Promise.reject(new Error('out of order')), 'out of order'],
    ['answers NaN', () => Number.NaN, 'NaN'],
    ['answers more than 1', () => 1.01, '1.01'],
    ['answers less than 0', () => -0.1, '-0.1'],
    ['answers with a text', () => '0.9' as never, '0.9'],
  ])(
    'S2-101 a similarity function that %s causes an error naming it, with nothing changed',
    async (_title, similarity, shown) => {
      const { see, session, tables } = await openMemory({ memory: { similarity } })
      await see(car)
      await see(auto)
      const before = await tables()
      const refusal = await refusalOf(session(), 'EXECUTION_ERROR')
      expect(refusal.details).toMatchObject({ option: 'memory.similarity' })
      expect(refusal.message).toContain(shown)
      expect(await tables()).toEqual(before)
    },
  )

  it('a similarity function is called once per pair, whatever it returns', async () => {
    let nth = 0
    const { see, session } = await openMemory({ memory: { similarity: () => (nth++ % 2 === 0 ? 1 : 0) } })
    for (let text = 0; text < 20; text++) await see(`text number ${'i'.repeat(text)}`)
    expect(await session()).toMatchObject({ observationsProcessed: 20 })
  })

  it('a step that needs other answers each time ends with an error and nothing changed', async () => {
    const { ledger, tables } = await openMemory()
    const before = await tables()
    let asked = 0
    const host: MemoryHost = {
      memory: memorySettings({ similarity: () => 0 }),
      step: (step) => ledger.step(step),
      read: (query) => ledger.read(query),
      stepContext: () => Promise.resolve({ at: 1, instanceId: 'instance-a' }),
      nextId: (prefix) => `${prefix}-a`,
      redaction: redactionBy(undefined),
      embed: () => Promise.reject(new Error('offline')),
      report: () => {},
    }
    const wondering = runMemoryStep(host, 'wonder', function* (tx, memory): Op<void> {
      const said = { sessionId: 's1', branch: 'main', type: 'insight' as const, content: 'x', outcome: null }
      yield* observe(tx, memory, { ...said, taskId: null, agentId: null, statedBy: { kind: 'program' } })
      yield* memory.likeness('x', `x${asked++}`)
    })
    const { details } = await refusalOf(wondering, 'LIMIT_EXCEEDED')
    expect(details).toEqual({ tries: 10 })
    expect(await tables()).toEqual(before)
  })
})

describe('Likeness by meaning', () => {
  it('S2-103 similarity by embeddings compares vectors of the model, above 0.92', async () => {
    const { model } = embedder()
    const { see, session, known } = await openMemory({ memory: { similarity: 'embeddings' }, embeddingModel: model })
    await see(car)
    await see(tree)
    await see(auto)
    expect(await session()).toMatchObject({ factsCreated: 2, factsUpdated: 1 })
    expect(await known()).toEqual([`0.8 ${car}`, `0.7 ${tree}`])
  })

  it('vectors are stored with their facts, so that no text is embedded twice', async () => {
    const { model, asked } = embedder()
    const options = { memory: { similarity: 'embeddings' as const }, embeddingModel: model }
    const { see, session, call, team, known } = await openMemory(options)
    const { taskId, branch, on } = await team('Cars', 'ada')
    const where = { taskId, agentId: 'ada' }
    await see(car, where)
    await see(tree, where)
    await session()
    expect(asked.flat().sort()).toEqual([car, tree].sort())
    await see('the vehicle has a red colour', { ...where, sessionId: 's2' })
    await session('s2')
    await call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })
    await call('mem:merge', { branch: on('ada') })
    await call('mem:consolidate', { level: 'task', taskId })
    await call('mem:consolidate', { level: 'project' })
    expect(asked.flat().sort()).toEqual([car, tree, 'the vehicle has a red colour'].sort())
    expect(await known(branch)).toEqual([`0.8 ${car}`, `0.7 ${tree}`])
  })

  it('a later engine uses the vectors stored by an earlier one', async () => {
    const first = embedder()
    const memory = { similarity: 'embeddings' as const }
    const { see, session, ledger } = await openMemory({ memory, embeddingModel: first.model })
    await see(car)
    await see(tree)
    await session()
    const second = embedder()
    const later = await openMemory({ memory, embeddingModel: second.model, ledger })
    await later.see(auto, { sessionId: 's2' })
    expect(await later.session('s2')).toMatchObject({ factsUpdated: 1 })
    expect(second.asked).toEqual([[auto]])
  })

  it('another embedding model gets vectors of its own', async () => {
    const first = embedder()
    const memory = { similarity: 'embeddings' as const }
    const { see, session, ledger } = await openMemory({ memory, embeddingModel: first.model })
    await see(car)
    await session()
    const second = embedder()
    const later = await openMemory({ memory, embeddingModel: { ...second.model, modelId: 'other' }, ledger })
    await later.see(auto, { sessionId: 's2' })
    expect(await later.session('s2')).toMatchObject({ factsUpdated: 1 })
    expect(second.asked.flat().sort()).toEqual([auto, car].sort())
  })

  it('an embedding model receives no more texts at once than it accepts', async () => {
    const { model, asked } = embedder({ maxEmbeddingsPerCall: 2 })
    const { engine } = await openMemory({ embeddingModel: model })
    const { embeddings, modelId } = await engine.bus.call('model:embed', { texts: [car, auto, tree] })
    expect([embeddings, modelId]).toEqual([[meanings[car], meanings[auto], meanings[tree]], 'test:meaning'])
    expect(asked).toEqual([[car, auto], [tree]])
    await refusalOf(engine.bus.call('model:embed', { texts: [car], modelId: 'other' }), 'NO_MODEL')
  })

  it('similarity by embeddings calls `model:embed` of the bus', async () => {
    const mine = defineAbility({
      id: 'model:embed',
      description: 'Mine.',
      input: z.object({ texts: z.array(z.string()) }),
      output: z.object({ embeddings: z.array(z.array(z.number())), modelId: z.string() }),
      handle: ({ texts }) => ({ embeddings: texts.map((text) => meanings[text] ?? [0, 1, 0]), modelId: 'mine' }),
    })
    const { see, session } = await openMemory({ memory: { similarity: 'embeddings' }, abilities: [mine] })
    await see(car)
    await see(auto)
    expect(await session()).toMatchObject({ factsCreated: 1, factsUpdated: 1 })
  })

  it('similarity by embeddings without `model:embed` fails with NO_MODEL when needed, with nothing changed', async () => {
    const { see, session, tables } = await openMemory({ memory: { similarity: 'embeddings' } })
    expect(await session()).toMatchObject({ observationsProcessed: 0 })
    await see(car)
    const before = await tables()
    await refusalOf(session(), 'NO_MODEL')
    expect(before.facts).toEqual([])
    expect(withTheSameFacts(await tables(), before)).toBe(true)
  })

  it('S2-101 an embedding model that fails or returns too few vectors changes nothing', async () => {
    for (const doEmbed of [
      () => Promise.reject(new Error('no quota')),
      () => Promise.resolve({ embeddings: [] }),
      () => Promise.resolve({ embeddings: [[Number.NaN]] }),
    ]) {
      const { model } = embedder()
      const { see, session, tables } = await openMemory({
        memory: { similarity: 'embeddings' },
        embeddingModel: { ...model, doEmbed },
      })
      await see(car)
      const before = await tables()
      await refusalOf(session(), 'EXECUTION_ERROR')
      expect(await tables()).toEqual(before)
    }
  })
})

function withTheSameFacts(a: { facts: unknown[] }, b: { facts: unknown[] }): boolean {
  return JSON.stringify(a.facts) === JSON.stringify(b.facts)
}

describe('The option memory', () => {
  it.each([
    [{ treshold: 0.5 }, 'UNKNOWN_OPTION', 'threshold'],
    [{ threshold: 2 }, 'INVALID_INPUT', 'threshold'],
    [{ similarity: 'cosine' }, 'INVALID_INPUT', 'similarity'],
    [{ candidates: 'words' }, 'INVALID_INPUT', 'candidates'],
    [{ candidates: 'all', similarity: 'embeddings' }, 'INVALID_INPUT', 'candidates'],
    [{ onContradiction: 'oldest' }, 'INVALID_INPUT', 'onContradiction'],
    [{ contradicts: true }, 'INVALID_INPUT', 'contradicts'],
    [{ durableThreshold: 80 }, 'INVALID_INPUT', 'durableThreshold'],
    [{ consolidateEvery: 0 }, 'INVALID_INPUT', 'consolidateEvery'],
    [{ categoryRules: [{ category: 'lore', words: [] }] }, 'INVALID_INPUT', 'categoryRules'],
    [{ categoryRules: [{ category: 'lore', word: ['dragon'] }] }, 'UNKNOWN_OPTION', 'words'],
    [true, 'INVALID_INPUT', 'memory'],
  ] as const)('X-033 the option memory %j is refused with %s, naming %s', async (memory, code, said) => {
    const refusal = await refusalOf(createEngine({ memory: memory as never }), code)
    expect(`${refusal.message} ${JSON.stringify(refusal.details)}`).toContain(said)
  })

  it.each([
    ['a name', 'text-embedding-3-small'],
    ['a language model', { specificationVersion: 'v3', provider: 'p', modelId: 'm', doStream: () => {} }],
    ['an older specification', { specificationVersion: 'v2', provider: 'p', modelId: 'm', doEmbed: () => {} }],
    ['one without a name', { specificationVersion: 'v4', provider: 'p', modelId: '', doEmbed: () => {} }],
  ])('an embedding model that is %s is refused', async (_title, embeddingModel) => {
    await refusalOf(createEngine({ embeddingModel: embeddingModel as never }), 'INVALID_INPUT')
  })

  it('S2-093 categoryRules infer the category of an insight', async () => {
    const { see, session, facts } = await openMemory({
      memory: { categoryRules: [{ category: 'lore', words: ['dragon'] }] },
    })
    await see('two dragons sleep below the mountain')
    await see('the bug is fixed')
    await session()
    expect((await facts()).map(({ category }) => category as string)).toEqual(['insight', 'lore'])
  })

  it('memory: false registers no mem abilities, so that their ids are free', async () => {
    const { engine } = await openMemory({ memory: false })
    expect(engine.bus.abilities().filter(({ moduleName }) => moduleName === 'mem')).toEqual([])
    await refusalOf(engine.mem.facts({}), 'NOT_FOUND')
    engine.bus.register(
      defineAbility({ id: 'mem:facts', description: 'Mine.', input: z.any(), output: z.any(), handle: () => 'mine' }),
    )
    expect(await engine.bus.call('mem:facts', {})).toBe('mine')
  })

  it('S2-058 each mem ability is also a method of the engine', async () => {
    const { engine, see } = await openMemory()
    await see('so it is')
    expect(await engine.mem.consolidate({ level: 'session', sessionId: 's1' })).toMatchObject({ factsCreated: 1 })
    const { facts } = await engine.mem.facts({ branch: 'main' })
    expect(facts).toMatchObject([{ text: 'so it is', confidence: 0.7 }])
    const offered = engine.bus.abilities().filter(({ moduleName }) => moduleName === 'mem')
    expect(offered.map(({ abilityName }) => abilityName).sort()).toEqual(Object.keys(engine.mem).sort())
    expect(offered.every(({ inputSchema }) => inputSchema['type'] === 'object')).toBe(true)
  })
})
