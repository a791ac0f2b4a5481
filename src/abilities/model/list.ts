// model:list: which models are registered.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { ModelRegistry } from '../../models/model-registry.ts'

const modelInfoSchema = z.strictObject({
  id: z.string(),
  provider: z.string(),
  modelId: z.string(),
  isDefault: z.boolean(),
})

/** In the order in which they were registered. */
export function modelList(registry: ModelRegistry) {
  return defineAbility({
    id: 'model:list',
    access: 'read',
    description: 'Lists the registered language models and says which one is the default.',
    input: z.strictObject({}),
    output: z.strictObject({ models: z.array(modelInfoSchema) }),
    handle: () => ({ models: registry.list() }),
  })
}
