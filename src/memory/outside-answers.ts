// Answers from outside (an embedding model, functions of the embedder), the questions to which a step of memory has none yet, and asking them.

import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { startOf } from '../core/storable-text.ts'
import type { ComparedFact, LikenessFunction } from '../entities/options.ts'
import type { Op } from '../ledger/ledger.ts'
import type { MemoryHost } from './memory-host.ts'

export type JudgedPair = readonly [existing: ComparedFact, incoming: ComparedFact]
/** The judge's decision about a contradiction. */
export type Ruling = 'keep-both' | 'first' | 'second'

/** What is asked and answered, by kind. */
interface Kinds {
  /** The vector of a text. */
  vectors: { question: string; answer: Float32Array }
  /** Of two texts, sorted: likeness is symmetric. */
  likenesses: { question: readonly [string, string]; answer: number }
  contradictions: { question: JudgedPair; answer: boolean }
  rulings: { question: JudgedPair; answer: Ruling }
}
type Kind = keyof Kinds
type MapsOf<Part extends 'question' | 'answer'> = { readonly [K in Kind]: Map<string, Kinds[K][Part]> }

const kinds = ['vectors', 'likenesses', 'contradictions', 'rulings'] as const

const noneOf = () => ({
  vectors: new Map(),
  likenesses: new Map(),
  contradictions: new Map(),
  rulings: new Map(),
})

/** Questions that are asked together. An operation yields them, and goes on when they are answered. */
export class Questions {
  readonly of: MapsOf<'question'> = noneOf()

  add<K extends Kind>(kind: K, key: string, question: Kinds[K]['question']): this {
    this.of[kind].set(key, question)
    return this
  }
}

/** Thrown by an operation that must not ask. */
export class Unanswered extends Error {
  readonly asked: Questions

  constructor(asked: Questions) {
    super('answers are missing')
    this.asked = asked
  }
}

/** The answers for one step of memory, in all of its runs. */
export class Answers {
  /** The embedding model, once it has answered. */
  model: string | null
  readonly of: MapsOf<'answer'> = noneOf()

  constructor(model: string | null) {
    this.model = model
  }

  /** Asks if the answer is not known. */
  *to<K extends Kind>(kind: K, question: Kinds[K]['question']): Op<Kinds[K]['answer']> {
    const key = typeof question === 'string' ? question : JSON.stringify(question)
    const known: Map<string, Kinds[K]['answer']> = this.of[kind]
    const answer = known.get(key)
    if (answer !== undefined) return answer
    const asked = new Questions().add(kind, key, question)
    yield asked
    const given = known.get(key)
    // A further answer of another model made its vector useless.
    if (given === undefined) throw new Unanswered(asked)
    return given
  }

  /** Vectors of different models cannot be compared. */
  useModel(model: string): void {
    if (this.model !== null && this.model !== model) this.of.vectors.clear()
    this.model = model
  }
}

/** How many operations ask together at most. */
const askedTogether = 1_024

/** Runs an operation that does nothing but ask for each of the items. Their questions are asked together. */
export function* together<T, R>(items: readonly T[], ask: (item: T) => Op<R>): Op<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += askedTogether) {
    const runs = items.slice(at, at + askedTogether).map((item) => {
      const op = ask(item)
      return { op, next: op.next() }
    })
    for (;;) {
      const open = runs.filter(({ next }) => !next.done)
      if (open.length === 0) break
      yield joined(open.map(({ next }) => next.value as Questions))
      for (const run of open) run.next = run.op.next()
    }
    for (const { next } of runs) results.push(next.value as R)
  }
  return results
}

function joined(several: readonly Questions[]): Questions {
  const asked = new Questions()
  for (const { of } of several) {
    for (const kind of kinds) for (const [key, question] of of[kind]) asked.add(kind, key, question)
  }
  return asked
}

/** Limits: concurrent questions to functions, and texts per request to a model. */
const concurrentQuestions = 8
const textsPerRequest = 256

/** @throws ErrandError NO_MODEL; EXECUTION_ERROR { option } for an invalid answer. */
export async function fetchAnswers(host: MemoryHost, answers: Answers, { of: asked }: Questions): Promise<void> {
  const { similarity, contradicts, onContradiction } = host.memory
  const texts = [...asked.vectors.keys()]
  for (let at = 0; at < texts.length; at += textsPerRequest)
    await embed(host, answers, texts.slice(at, at + textsPerRequest))
  await each(asked.likenesses, async (key, [a, b]) => {
    const answer = await answerOf('similarity', () => (similarity as LikenessFunction)(a, b))
    if (typeof answer !== 'number' || !(answer >= 0 && answer <= 1)) {
      throw wrongAnswer('similarity', 'a number from 0 to 1', answer)
    }
    answers.of.likenesses.set(key, answer)
  })
  await each(asked.contradictions, async (key, pair) => {
    const answer = await answerOf('contradicts', () => contradicts?.(...pair))
    if (typeof answer !== 'boolean') throw wrongAnswer('contradicts', 'true or false', answer)
    answers.of.contradictions.set(key, answer)
  })
  await each(asked.rulings, async (key, pair) => {
    const judge = onContradiction as (...facts: JudgedPair) => unknown
    const answer = await answerOf('onContradiction', () => judge(...pair))
    if (answer !== 'keep-both' && answer !== 'first' && answer !== 'second') {
      throw wrongAnswer('onContradiction', "'keep-both', 'first' or 'second'", answer)
    }
    answers.of.rulings.set(key, answer)
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

async function embed(host: MemoryHost, answers: Answers, texts: readonly string[]): Promise<void> {
  const parsed = embeddedSchema().safeParse(await host.embed(texts))
  if (!parsed.success || parsed.data.embeddings.length !== texts.length) {
    throw new ErrandError(
      'EXECUTION_ERROR',
      `\`model:embed\` received ${texts.length} texts but did not return as many lists of numbers. Nothing was changed.`,
      { abilityId: 'model:embed', texts: texts.length },
    )
  }
  answers.useModel(parsed.data.modelId)
  for (const [index, text] of texts.entries()) {
    answers.of.vectors.set(text, Float32Array.from(parsed.data.embeddings[index] as number[]))
  }
}
