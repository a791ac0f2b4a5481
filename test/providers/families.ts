// The families of models that are tested, each with its real client package and a server that refuses what its provider refuses.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createGoogle } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { defaultSettingsMiddleware, wrapLanguageModel } from 'ai'
import type { LanguageModelLike } from '../../src/agents/models/language-model.ts'
import { chatCompletions } from './chat-completions.ts'
import { claude } from './claude.ts'
import { gemini } from './gemini.ts'
import type { Provider } from './server.ts'

export interface Family {
  provider: Provider
  model(url: string): LanguageModelLike
}

const apiKey = 'key'
const compatible = (name: string) => (url: string) =>
  createOpenAICompatible({ name, baseURL: `${url}/v1`, includeUsage: true })('m')

const thinking = defaultSettingsMiddleware({
  settings: { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } } },
})

export const families: Readonly<Record<string, Family>> = {
  'Claude with thinking': {
    provider: claude,
    model: (url) =>
      wrapLanguageModel({
        model: createAnthropic({ baseURL: `${url}/v1`, apiKey })('claude-sonnet-4-5'),
        middleware: thinking,
      }),
  },
  DeepSeek: {
    provider: chatCompletions({ reasoningField: 'reasoning_content', wantsReasoning: true }),
    model: (url) => createDeepSeek({ baseURL: url, apiKey })('deepseek-v4'),
  },
  Kimi: {
    provider: chatCompletions({ reasoningField: 'reasoning_content', wantsReasoning: true, refusesReferences: true }),
    model: compatible('moonshot'),
  },
  'Gemini through its compatible address': { provider: chatCompletions({ signs: true }), model: compatible('google') },
  Gemini: { provider: gemini, model: (url) => createGoogle({ baseURL: url, apiKey })('gemini-3-pro') },
  Mistral: {
    provider: chatCompletions({ alternates: true, usageWithFinish: true }),
    model: (url) => createMistral({ baseURL: url, apiKey })('mistral-large-latest'),
  },
  'Gemma in vLLM': {
    provider: chatCompletions({ reasoningField: 'reasoning', alternates: true, wantsText: true }),
    model: compatible('vllm'),
  },
  'llama.cpp': {
    provider: chatCompletions({ alternates: true, wantsText: true, callId: 'same' }),
    model: compatible('llama'),
  },
}
