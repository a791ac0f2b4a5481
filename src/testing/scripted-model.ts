// The scripted model, for tests of those who use the engine: it lives in models/, where the command line finds it too.
export { parseScript, type ScriptedTurn } from '../models/script.ts'
export {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedPrompt,
  type ScriptFunction,
} from '../models/scripted-model.ts'
