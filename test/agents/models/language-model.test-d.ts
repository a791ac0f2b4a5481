// Models of every origin are assignable to `LanguageModelLike`, except those of an older specification.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import { createProviderRegistry, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import { expectTypeOf } from 'vitest'
import type { LanguageModelLike } from '../../../src/agents/models/language-model.ts'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'

expectTypeOf<LanguageModelV3>().toExtend<LanguageModelLike>()
expectTypeOf<LanguageModelV4>().toExtend<LanguageModelLike>()

const provider = createOpenAICompatible({ name: 'x', baseURL: 'http://127.0.0.1/v1' })
const accepted: LanguageModelLike[] = [
  provider('x'),
  new MockLanguageModelV3(),
  new MockLanguageModelV4(),
  wrapLanguageModel({ model: new MockLanguageModelV4(), middleware: [] }),
  createProviderRegistry({ x: provider }).languageModel('x:y'),
  createScriptedModel([{ text: 'x' }]),
  { specificationVersion: 'v4', provider: 'x', modelId: 'y', doStream: async () => ({ stream: new ReadableStream() }) },
]
expectTypeOf(accepted).toEqualTypeOf<LanguageModelLike[]>()

const { doStream } = new MockLanguageModelV4()
// @ts-expect-error version 2 streams other parts
accepted.push({ specificationVersion: 'v2', provider: 'x', modelId: 'y', doStream })
// @ts-expect-error a name is not a model: a registry resolves it
accepted.push('openai:gpt-5-mini')
// @ts-expect-error a turn has no such key
createScriptedModel([{ txt: 'x' }])
