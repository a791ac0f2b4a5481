// Set up before every file: each prompt that any test of this process hands to a model follows the rules of the strictest templates.
import { afterEach, beforeEach, expect, vi } from 'vitest'
import * as modelPrompt from '../src/agents/models/model-prompt.ts'
import { brokenRules } from './agents/models/prompt-rules.ts'

const { toCallOptions } = modelPrompt
let broken: string[] = []

beforeEach(() => {
  broken = []
  vi.spyOn(modelPrompt, 'toCallOptions').mockImplementation((...given) => {
    const options = toCallOptions(...given)
    broken.push(...brokenRules(options.prompt))
    return options
  })
})

afterEach(() => {
  expect(broken, 'prompts of this test break these rules').toEqual([])
})
