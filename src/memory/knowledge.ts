// The answers that a deliberation has collected from asynchronous functions (an embedding model, functions of the embedder), its open
// questions, and asking them.

import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { startOf } from '../core/storable-text.ts'
import type { ComparedFact, LikenessFunction } from '../entities/options.ts'
import type { MemoryHost } from './memory-host.ts'

export type JudgedPair = readonly [existing: ComparedFact, incoming: ComparedFact]
/** The judge's decision about a contradiction. */
export type Ruling = 'keep-both' | 'first' | 'second'

/** Answers by the key of their question, for one deliberation. */
export class Knowledge {
  /** The embedding model, once it has answered. */
  model: string | null = null
  readonly vectors = new Map<string, Float32Array>()
  readonly likenesses = new Map<string, number>()
  readonly contradictions = new Map<string, boolean>()
  readonly rulings = new Map<string, Ruling>()

  /** Vectors of different models cannot be compared. */
  useModel(model: string): void {
    if (this.model !== null && this.model !== model) this.vectors.clear()
    this.model = model
  }
}

/** Questions that came up in one round. */
export class Questions {
  readonly texts = new Set<string>()
  readonly likenesses = new Map<string, readonly [string, string]>()
  readonly contradictions = new Map<string, JudgedPair>()
  readonly rulings = new Map<string, JudgedPair>()

  get isEmpty(): boolean {
    return this.texts.size + this.likenesses.size + this.contradictions.size + this.rulings.size === 0
  }
}

/** Limits: concurrent questions to functions, and texts per request to a model. */
const concurrentQuestions = 8
const textsPerRequest = 256

/** @throws ErrandError NO_MODEL; EXECUTION_ERROR { option } for an invalid answer. */
export async function findOut(host: MemoryHost, known: Knowledge, asked: Questions): Promise<void> {
  const { similarity, contradicts, onContradiction } = host.memory
  const texts = [...asked.texts]
  for (let at = 0; at < texts.length; at += textsPerRequest)
    await embed(host, known, texts.slice(at, at + textsPerRequest))
  await each(asked.likenesses, async (key, [a, b]) => {
    const answer = await answerOf('similarity', () => (similarity as LikenessFunction)(a, b))
    if (typeof answer !== 'number' || !(answer >= 0 && answer <= 1)) {
      throw wrongAnswer('similarity', 'a number from 0 to 1', answer)
    }
    known.likenesses.set(key, answer)
  })
  await each(asked.contradictions, async (key, pair) => {
    const answer = await answerOf('contradicts', () => contradicts?.(...pair))
    if (typeof answer !== 'boolean') throw wrongAnswer('contradicts', 'true or false', answer)
    known.contradictions.set(key, answer)
  })
  await each(asked.rulings, async (key, pair) => {
    const judge = onContradiction as (...facts: JudgedPair) => unknown
    const answer = await answerOf('onContradiction', () => judge(...pair))
    if (answer !== 'keep-both' && answer !== 'first' && answer !== 'second') {
      throw wrongAnswer('onContradiction', "'keep-both', 'first' or 'second'", answer)
    }
    known.rulings.set(key, answer)
  })
}

async function each<T>(asked: ReadonlyMap<string, T>, ask: (key: string, about: T) => Promise<void>): Promise<void> {
  const open = [...asked]
  for (let at = 0; at < open.length; at += concurrentQuestions) {
    await Promise.all(open.slice(at, at + concurrentQuestions).map(([key, about]) => ask(key, about)))
  }
}

async function answerOf(option: string, ask: () => unknown): Promise<unknown> {
  try {
    return await ask()
  } catch (error) {
    throw new ErrandError(
      'EXECUTION_ERROR',
      `The function \`memory.${option}\` threw: ${error instanceof Error ? error.message : String(error)}. Nothing was changed.`,
      { option: `memory.${option}` },
      error,
    )
  }
}

function wrongAnswer(option: string, expected: string, answer: unknown): ErrandError {
  const shown =
    typeof answer === 'number' || typeof answer === 'string' ? JSON.stringify(String(answer)) : typeof answer
  return new ErrandError(
    'EXECUTION_ERROR',
    `The function \`memory.${option}\` returned ${startOf(shown, 100)}: expected ${expected}. Nothing was changed.`,
    { option: `memory.${option}` },
  )
}

const embeddedSchema = once(() =>
  z.object({
    embeddings: z.array(z.array(z.number())),
    modelId: z.string().min(1).default('unnamed'),
  }),
)

async function embed(host: MemoryHost, known: Knowledge, texts: readonly string[]): Promise<void> {
  const parsed = embeddedSchema().safeParse(await host.embed(texts))
  if (!parsed.success || parsed.data.embeddings.length !== texts.length) {
    throw new ErrandError(
      'EXECUTION_ERROR',
      `\`model:embed\` received ${texts.length} texts but did not return as many lists of numbers. Nothing was changed.`,
      { abilityId: 'model:embed', texts: texts.length },
    )
  }
  known.useModel(parsed.data.modelId)
  for (const [index, text] of texts.entries()) {
    known.vectors.set(text, Float32Array.from(parsed.data.embeddings[index] as number[]))
  }
}
