// The parts of a model's answer in the order in which they came, with what the provider says of each: providers require some of it back before
// the next step (signatures of reasoning and of tool calls).
import { storableText } from '../../core/storable-text.ts'
import type { ModelPart, ProviderMetadata } from '../../entities/message.ts'

type Block = Extract<ModelPart, { text: string }>

/** A piece of a block of text or reasoning. */
export interface BlockPiece {
  /** Identifies the block among those that are open; undefined if the provider gives none. */
  id: string | undefined
  kind: Block['type']
  delta?: string
  metadata?: ProviderMetadata | undefined
}

export class StepParts {
  readonly #parts: ModelPart[] = []
  readonly #open = new Map<string, Block>()
  #calls = 0

  /** The beginning, the end or a piece of a block. */
  addPiece({ id, kind, delta = '', metadata }: BlockPiece): void {
    const key = `${kind}:${id ?? ''}`
    let block = this.#open.get(key)
    if (block === undefined) {
      block = { type: kind, text: '' }
      this.#open.set(key, block)
      this.#parts.push(block)
    }
    block.text += delta
    if (metadata !== undefined) block.providerMetadata = merged(block.providerMetadata, metadata)
  }

  endBlock(piece: BlockPiece): void {
    this.addPiece(piece)
    this.#open.delete(`${piece.kind}:${piece.id ?? ''}`)
  }

  /** The tool calls are counted in their order. */
  addCall(metadata: ProviderMetadata | undefined): void {
    this.#parts.push(withMetadata({ type: 'tool-call', call: this.#calls }, metadata))
    this.#calls += 1
  }

  add(part: ModelPart, metadata: ProviderMetadata | undefined): void {
    this.#parts.push(withMetadata(part, metadata))
  }

  /** Undefined if the text and the calls of the answer say all of it. */
  all(): ModelPart[] | undefined {
    const parts = this.#parts.filter((part) => !isEmpty(part))
    const isPlain = parts.every(
      ({ type, providerMetadata }, at) =>
        providerMetadata === undefined && (type === 'tool-call' || (type === 'text' && at === 0)),
    )
    return isPlain ? undefined : parts.map(storable)
  }
}

function isEmpty(part: ModelPart): boolean {
  return 'text' in part && part.text === '' && part.providerMetadata === undefined
}

function withMetadata(part: ModelPart, metadata: ProviderMetadata | undefined): ModelPart {
  return metadata === undefined ? part : { ...part, providerMetadata: metadata }
}

/** Pieces of one block may each name a part of what the provider says of it, such as the signature at its end. */
function merged(earlier: ProviderMetadata | undefined, later: ProviderMetadata): ProviderMetadata {
  const all = { ...earlier }
  for (const [provider, said] of Object.entries(later)) {
    const before = all[provider]
    all[provider] = isObject(before) && isObject(said) ? { ...before, ...said } : said
  }
  return all
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** With texts that a ledger can hold: metadata repeats what the model wrote, and titles come from pages. */
function storable(part: ModelPart): ModelPart {
  const text = JSON.stringify(part)
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  ) as ModelPart
}
