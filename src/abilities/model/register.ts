// model:register: gives a model a name under which steps may ask for it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { languageModelSchema } from '../../models/language-model.ts'
import type { ModelRegistry } from '../../models/model-registry.ts'

/**
 * A model is a live object, so only a program in the same process can call this: with `call`, not as JSON text. `registered` is
 * called when the registry has got a model.
 */
export function modelRegister(registry: ModelRegistry, registered: () => void = () => {}) {
  return defineAbility({
    id: 'model:register',
    description: 'Registers a language model object (AI SDK specification v3 or v4) under a name.',
    input: z.strictObject({ id: z.string(), model: languageModelSchema, default: z.boolean().optional() }),
    output: z.strictObject({ id: z.string() }),
    models: false,
    handle({ id, model, default: isDefault }) {
      registry.register(id, model, { default: isDefault })
      registered()
      return { id }
    },
  })
}
