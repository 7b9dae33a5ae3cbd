// An application with the AI SDK of Vercel; `make_traces.py` runs it.
import { createOpenAI } from '@ai-sdk/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

const [, , url, prompt, system, result, fails] = process.argv;
const exporter = new OTLPTraceExporter({ url: `${url}/traces` });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const getFee = tool({
  description: 'Return the fee.',
  inputSchema: z.object({ country: z.string() }),
  execute: async () => {
    if (fails === 'True') throw new Error(result);
    return result;
  },
});
await generateText({
  model: createOpenAI({ baseURL: url, apiKey: 'none' }).chat('gpt-4o'),
  prompt,
  system,
  tools: { get_fee: getFee },
  stopWhen: stepCountIs(5),
  experimental_telemetry: { isEnabled: true, functionId: 'fees' },
});
await provider.forceFlush();
await provider.shutdown();
