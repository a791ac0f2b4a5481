// The models of an engine by name. The first one is the default unless another is set; an unregistered name of the form
// `provider:model` is resolved by a function of the embedder, once.

import { z } from 'zod'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { requireText } from '../../core/parse.ts'
import { startOf } from '../../core/storable-text.ts'
import { type LanguageModelLike, requireLanguageModel } from './language-model.ts'

/** Creates a model from a name such as `openai:gpt-5-mini`; undefined for an unknown name. */
export type ResolveModel = (id: string) => LanguageModelLike | undefined | Promise<LanguageModelLike | undefined>

/** A registered model as it is listed. */
export const modelInfoSchema = z.strictObject({
  id: z.string(),
  provider: z.string(),
  modelId: z.string(),
  isDefault: z.boolean(),
})
export type ModelInfo = z.output<typeof modelInfoSchema>

export class ModelRegistry {
  readonly #models = new Map<string, LanguageModelLike>()
  readonly #resolved = new Map<string, Promise<LanguageModelLike>>()
  readonly #resolve: ResolveModel | undefined
  #default: string | undefined
  #registered: () => void = () => {}

  constructor(options: { resolve?: ResolveModel | undefined } = {}) {
    this.#resolve = options.resolve
  }

  /** Whether there is no model, no default and no resolver. */
  get isEmpty(): boolean {
    return this.#models.size === 0 && this.#default === undefined && this.#resolve === undefined
  }

  /** Makes a name the default; a name that is to be resolved need not be registered. */
  setDefault(id: string): void {
    this.#default = requireId(id)
  }

  /** Whether `resolve()` without a name finds a model. */
  get hasDefault(): boolean {
    return this.#default !== undefined
  }

  /** The name that `resolve()` without a name resolves; undefined without a default. */
  get defaultName(): string | undefined {
    return this.#default
  }

  /**
   * Registers a model; the same object may be registered again.
   * @throws ErrandError ALREADY_REGISTERED when another model has this name, INVALID_INPUT for anything but a model.
   */
  register(id: string, model: LanguageModelLike, options: { default?: boolean | undefined } = {}): void {
    const name = requireId(id)
    const checked = requireLanguageModel(model, `The model "${name}"`)
    const registered = this.#models.get(name)
    if (registered !== undefined && registered !== checked) {
      throw new ErrandError(
        'ALREADY_REGISTERED',
        `A model "${name}" (${registered.provider}, ${registered.modelId}) is already registered. Register the other one under another name.`,
        { id: name },
      )
    }
    this.#models.set(name, checked)
    this.#resolved.delete(name)
    if (options.default ?? this.#default === undefined) this.#default = name
    this.#registered()
  }

  /** Calls the listener after each registration from now on. */
  onRegister(listener: () => void): void {
    this.#registered = listener
  }

  /** In the order in which they were registered. */
  list(): ModelInfo[] {
    return Array.from(this.#models, ([id, { provider, modelId }]) => ({
      id,
      provider,
      modelId,
      isDefault: id === this.#default,
    }))
  }

  /**
   * The model of this name; without a name the default.
   * @throws ErrandError NO_MODEL with the registered names; any error of the embedder's function.
   */
  async resolve(id?: string): Promise<LanguageModelLike> {
    const name = id ?? this.#default
    if (name === undefined) throw noDefault()
    const registered = this.#models.get(name)
    if (registered) return registered
    const resolve = this.#resolve
    if (!resolve || !name.includes(':')) throw this.#unknown(name)
    return this.#resolved.get(name) ?? this.#remember(name, resolve)
  }

  /** Two concurrent calls share one resolution; a failure is not cached. */
  #remember(name: string, resolve: ResolveModel): Promise<LanguageModelLike> {
    const resolving = this.#make(name, resolve)
    this.#resolved.set(name, resolving)
    resolving.catch(() => this.#resolved.delete(name))
    return resolving
  }

  async #make(name: string, resolve: ResolveModel): Promise<LanguageModelLike> {
    const model = await resolve(name)
    if (model === undefined) throw this.#unknown(name)
    return requireLanguageModel(model, `What resolves the model "${name}"`)
  }

  #unknown(name: string): ErrandError {
    const known = [...this.#models.keys()]
    const nearest = nearestName(name, known)
    return new ErrandError(
      'NO_MODEL',
      `There is no model "${name}".${nearest ? ` Did you mean "${nearest}"?` : ''} ${
        known.length > 0 ? `Registered are: ${known.join(', ')}.` : 'None is registered.'
      } ${this.#resolve ? 'A name of the form `provider:model` is resolved.' : 'Register it with `model:register`.'}`,
      { id: name, known, nearest },
    )
  }
}

function noDefault(): ErrandError {
  return new ErrandError(
    'NO_MODEL',
    'No model was named and there is no default, because none is registered. Register one with `model:register`, or name one as `provider:model`.',
    { known: [] },
  )
}

function requireId(id: unknown): string {
  const name = requireText(id, 'the name of a model')
  if (name.trim() !== '' && name.length <= 200) return name
  throw new ErrandError('INVALID_INPUT', 'The name of a model must have 1 to 200 characters.', {
    id: startOf(name, 200),
  })
}
