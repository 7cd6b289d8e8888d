# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of packages as people train them, in small sizes: name -> a function that makes
(module, loss function, inputs, targets)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

PROGRAMS = {}
WORDS, TIME, ROWS = 97, 12, 2


def program(name):
    def add(make):
        assert name not in PROGRAMS, name
        PROGRAMS[name] = make
        return make
    return add


class Called(nn.Module):
    """Calls a module with named arguments, and takes a part of what it returns."""

    def __init__(self, module, names, part):
        super().__init__()
        self.module, self.names, self.part = module, names, part

    def forward(self, *inputs):
        return self.part(self.module(**dict(zip(self.names, inputs))))


def first(value):
    return value


def tokens(rows=ROWS, time=TIME):
    return torch.randint(1, WORDS, (rows, time))


def images(size=32, rows=ROWS):
    return torch.randn(rows, 3, size, size)


# torch.nn

def _plain(name, make, inputs, part=lambda y: y, target=None):
    """Mean square of the output, or cross-entropy."""
    def build():
        module, given = make(), inputs()
        with torch.no_grad():
            shape = part(module(*given)).shape
        return Taken(module, part), F.mse_loss, given, [torch.randn(shape)]
    program("torch.nn/" + name)(build)


class Taken(nn.Module):
    def __init__(self, module, part):
        super().__init__()
        self.module, self.part = module, part

    def forward(self, *inputs):
        return self.part(self.module(*inputs))


def mlp(*layers):
    return lambda: nn.Sequential(*(layer() for layer in layers))


def _torch_nn():
    x = lambda: [torch.randn(4, 8)]  # noqa: E731
    time = lambda: [torch.randn(3, 5, 8)]  # noqa: E731
    for name in ("ReLU", "GELU", "SiLU", "Mish", "ELU", "SELU", "CELU", "Hardswish",
                 "Hardtanh", "Softplus", "Softsign", "Tanhshrink", "LogSigmoid", "PReLU",
                 "LeakyReLU", "RReLU", "Threshold", "Softshrink", "Hardshrink", "GLU"):
        args = {"Threshold": (0.1, 0.2), "RReLU": (0.2, 0.2)}.get(name, ())
        _plain(name, mlp(lambda: nn.Linear(8, 16), lambda n=name, a=args: getattr(nn, n)(*a)),
               x)
    for name, layer in {
            "LayerNorm": lambda: nn.LayerNorm(16), "BatchNorm1d": lambda: nn.BatchNorm1d(16),
            "GroupNorm": lambda: nn.GroupNorm(4, 16), "RMSNorm": lambda: nn.RMSNorm(16),
            "InstanceNorm": lambda: nn.Sequential(
                nn.Unflatten(1, (4, 4)), nn.InstanceNorm1d(4, affine=True)),
            "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(16, 4)),
            "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(
                nn.Linear(16, 4)),
            "orthogonal": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(16, 4)),
            "Dropout": lambda: nn.Dropout(0.0), "Identity": nn.Identity}.items():
        _plain(name, mlp(lambda: nn.Linear(8, 16), layer), x)
    for name, make in {
            "RNN": lambda: nn.RNN(8, 6, 2, batch_first=True),
            "LSTM": lambda: nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True),
            "LSTM with projection": lambda: nn.LSTM(8, 6, proj_size=3, batch_first=True),
            "GRU": lambda: nn.GRU(8, 6, batch_first=True)}.items():
        _plain(name, make, time, lambda y: y[0])
    _plain("Bilinear", lambda: nn.Bilinear(8, 8, 3), lambda: [torch.randn(4, 8)] * 2)
    _plain("MultiheadAttention", lambda: nn.MultiheadAttention(8, 2, batch_first=True),
           lambda: [torch.randn(3, 5, 8) for _ in range(3)], lambda y: y[0])
    _plain("TransformerEncoder", lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2), time)
    _plain("TransformerDecoder", lambda: nn.TransformerDecoder(
        nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), 1),
        lambda: [torch.randn(3, 5, 8), torch.randn(3, 4, 8)])
    _plain("Transformer", lambda: nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True),
           lambda: [torch.randn(3, 5, 8), torch.randn(3, 4, 8)])
    _plain("EmbeddingBag", lambda: nn.EmbeddingBag(WORDS, 8, mode="mean"),
           lambda: [tokens()])
    _plain("Embedding", lambda: nn.Sequential(nn.Embedding(WORDS, 8, padding_idx=0),
                                              nn.Linear(8, 3)), lambda: [tokens()])
    _plain("CosineSimilarity", lambda: Pairs(nn.CosineSimilarity()), x)
    _plain("PairwiseDistance", lambda: Pairs(nn.PairwiseDistance()), x)
    _plain("Conv2d", lambda: nn.Conv2d(3, 4, 3), lambda: [images(8)])
    for name, loss in {
            "CrossEntropyLoss": nn.CrossEntropyLoss(label_smoothing=0.1),
            "NLLLoss": lambda y, t: F.nll_loss(y.log_softmax(-1), t),
            "MultiMarginLoss": nn.MultiMarginLoss()}.items():
        program("torch.nn/" + name)(lambda loss=loss: (
            nn.Linear(8, 5), loss, [torch.randn(4, 8)], [torch.randint(0, 5, (4,))]))
    for name, loss in {
            "SmoothL1Loss": nn.SmoothL1Loss(), "HuberLoss": nn.HuberLoss(),
            "L1Loss": nn.L1Loss(), "BCEWithLogitsLoss": nn.BCEWithLogitsLoss(),
            "PoissonNLLLoss": nn.PoissonNLLLoss(), "SoftMarginLoss": nn.SoftMarginLoss(),
            "KLDivLoss": lambda y, t: F.kl_div(y.log_softmax(-1), t.softmax(-1),
                                               reduction="batchmean"),
            "GaussianNLLLoss": lambda y, t: F.gaussian_nll_loss(y, t, y.exp()),
            "CosineEmbeddingLoss": lambda y, t: F.cosine_embedding_loss(
                y, t, torch.tensor([1.0, -1.0, 1.0, -1.0])),
            "MarginRankingLoss": lambda y, t: F.margin_ranking_loss(y, t, torch.ones(4, 5)),
            "TripletMarginLoss": lambda y, t: F.triplet_margin_loss(y, t, t.flip(0)),
            "MultiLabelSoftMarginLoss": nn.MultiLabelSoftMarginLoss()}.items():
        program("torch.nn/" + name)(lambda loss=loss: (
            nn.Linear(8, 5), loss, [torch.randn(4, 8)], [torch.rand(4, 5)]))


class Pairs(nn.Module):
    def __init__(self, distance):
        super().__init__()
        self.a, self.b, self.distance = nn.Linear(8, 4), nn.Linear(8, 4), distance

    def forward(self, x):
        return self.distance(self.a(x), self.b(x))


_torch_nn()


# transformers

_SMALL = dict(vocab_size=WORDS, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
              num_attention_heads=2, max_position_embeddings=64)
_NO_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
_KEYS = dict(num_key_value_heads=1)


def _causal(name, kind, more=None, **settings):
    """A language model that computes its own loss."""
    def make():
        import transformers
        config = getattr(transformers, kind + "Config")(**settings)
        module = getattr(transformers, kind + (more or "ForCausalLM"))(config).train()
        words = tokens()
        return Called(module, ["input_ids", "labels"], lambda out: out.loss), first, \
            [words, words], []
    program("transformers/" + name)(make)


def _masked(name, kind, head, **settings):
    def make():
        import transformers
        config = getattr(transformers, kind + "Config")(**settings)
        module = getattr(transformers, kind + head)(config).train()
        mask = torch.ones(ROWS, TIME, dtype=torch.int64)
        mask[0, -3:] = 0
        labels = tokens() if "MaskedLM" in head else torch.tensor([0, 1])
        return Called(module, ["input_ids", "attention_mask", "labels"],
                      lambda out: out.loss), first, [tokens(), mask, labels], []
    program("transformers/" + name)(make)


def _transformers():
    gpt = dict(vocab_size=WORDS, n_embd=16, n_layer=2, n_head=2, n_positions=64,
               resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    _causal("GPT-2", "GPT2", "LMHeadModel", **gpt)
    _causal("GPT-J", "GPTJ", **gpt, rotary_dim=4)
    _causal("GPT-NeoX", "GPTNeoX", **_SMALL)
    _causal("GPT-Neo", "GPTNeo", vocab_size=WORDS, hidden_size=16, num_layers=2, num_heads=2,
            max_position_embeddings=64, attention_types=[[["global", "local"], 1]],
            resid_dropout=0.0, embed_dropout=0.0, attention_dropout=0.0)
    for name, kind in {"Llama": "Llama", "Mistral": "Mistral", "Qwen2": "Qwen2",
                       "Qwen3": "Qwen3", "Phi": "Phi", "Phi-3": "Phi3",
                       "StableLM": "StableLm", "OLMo-2": "Olmo2", "Cohere": "Cohere",
                       "StarCoder2": "Starcoder2", "SmolLM3": "SmolLM3",
                       "Granite": "Granite", "Helium": "Helium", "Glm": "Glm",
                       "Nemotron": "Nemotron", "Persimmon": "Persimmon"}.items():
        more = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
        settings = {**_SMALL, **more}
        if kind != "Persimmon":
            settings.update(_KEYS)
        _causal(name, kind, **settings, **({"head_dim": 8} if kind in (
            "Glm", "Helium") else {}))
    for name, kind in {"Gemma": "Gemma", "Gemma-2": "Gemma2", "Gemma-3": "Gemma3Text"}.items():
        _causal(name, kind, None if kind != "Gemma3Text" else "", **_SMALL, **_KEYS,
                head_dim=8) if kind != "Gemma3Text" else _gemma3()
    for name, kind in {"Mixtral": "Mixtral", "Qwen3-MoE": "Qwen3Moe"}.items():
        _causal(name, kind, **_SMALL, **_KEYS, num_experts_per_tok=1,
                **({"num_local_experts": 2} if kind == "Mixtral" else
                   {"num_experts": 2, "moe_intermediate_size": 8, "head_dim": 8}))
    _causal("OPT", "OPT", vocab_size=WORDS, hidden_size=16, ffn_dim=32, num_hidden_layers=2,
            num_attention_heads=2, max_position_embeddings=64, word_embed_proj_dim=16,
            dropout=0.0)
    _causal("BLOOM", "Bloom", vocab_size=WORDS, hidden_size=16, n_layer=2, n_head=2)
    _causal("Falcon", "Falcon", vocab_size=WORDS, hidden_size=16, num_hidden_layers=2,
            num_attention_heads=2)
    _causal("MPT", "Mpt", vocab_size=WORDS, d_model=16, n_heads=2, n_layers=2)
    _causal("Mamba", "Mamba", vocab_size=WORDS, hidden_size=16, num_hidden_layers=2)
    for name, kind in {"BERT": "Bert", "RoBERTa": "Roberta", "ELECTRA": "Electra",
                       "DeBERTa-v2": "DebertaV2", "ALBERT": "Albert", "MPNet": "MPNet",
                       "ConvBERT": "ConvBert", "LayoutLM": "LayoutLM", "RemBERT": "RemBert",
                       "ERNIE": "Ernie", "CamemBERT": "Camembert", "XLM-R": "XLMRoberta",
                       "SqueezeBERT": "SqueezeBert", "Nystromformer": "Nystromformer",
                       "YOSO": "Yoso", "FNet": "FNet", "DistilBERT": "DistilBert",
                       "ModernBERT": "ModernBert"}.items():
        settings = {**_SMALL, **_NO_DROPOUT}
        if kind == "DistilBert":
            settings = dict(vocab_size=WORDS, dim=16, hidden_dim=32, n_layers=2, n_heads=2,
                            dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0)
        elif kind == "Albert":
            settings.update(embedding_size=8, classifier_dropout_prob=0.0)
        elif kind == "Electra":
            settings["embedding_size"] = 16
        elif kind == "ModernBert":
            settings = {**_SMALL, "pad_token_id": 0, "reference_compile": False,
                        "attn_implementation": "sdpa"}
        if kind == "SqueezeBert":
            settings["embedding_size"] = 16
        _masked(name + " words", kind, "ForMaskedLM", **settings)
        if kind in ("Bert", "Roberta", "DistilBert", "Electra", "Albert", "DebertaV2"):
            _masked(name + " classes", kind, "ForSequenceClassification", **settings)


def _gemma3():
    def make():
        import transformers
        config = transformers.Gemma3TextConfig(**_SMALL, **_KEYS, head_dim=8)
        words = tokens()
        return Called(transformers.Gemma3ForCausalLM(config).train(), ["input_ids", "labels"],
                      lambda out: out.loss), first, [words, words], []
    program("transformers/Gemma-3")(make)


def _seq2seq():
    def make(kind, **settings):
        def build():
            import transformers
            config = getattr(transformers, kind + "Config")(**settings)
            module = getattr(transformers, kind + "ForConditionalGeneration")(config).train()
            words = tokens()
            return Called(module, ["input_ids", "labels"], lambda out: out.loss), first, \
                [words, words], []
        return build
    program("transformers/T5")(make("T5", vocab_size=WORDS, d_model=16, d_kv=8, d_ff=32,
                                    num_layers=2, num_heads=2, dropout_rate=0.0,
                                    decoder_start_token_id=0))
    bart = dict(vocab_size=WORDS, d_model=16, encoder_layers=1, decoder_layers=1,
                encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
                decoder_ffn_dim=32, max_position_embeddings=64, dropout=0.0,
                pad_token_id=0, decoder_start_token_id=2)
    program("transformers/BART")(make("Bart", **bart))
    program("transformers/mBART")(make("MBart", **bart))
    program("transformers/Pegasus")(make("Pegasus", **bart))


def _vision():
    def make(kind, settings, size=32):
        def build():
            import transformers
            config = getattr(transformers, kind + "Config")(**settings, num_labels=3)
            module = getattr(transformers, kind + "ForImageClassification")(config).train()
            return Called(module, ["pixel_values"], lambda out: out.logits), \
                F.cross_entropy, [images(size)], [torch.tensor([0, 2])]
        return build
    small = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                 num_attention_heads=2, image_size=32, patch_size=8, **_NO_DROPOUT)
    for name, kind in {"ViT": "ViT", "DeiT": "DeiT", "DINOv2": "Dinov2", "BEiT": "Beit",
                       "ViT-MSN": "ViTMSN", "IJEPA": "IJepa"}.items():
        program("transformers/" + name)(make(kind, small))
    program("transformers/ConvNeXt")(make("ConvNext", dict(
        hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)))
    program("transformers/Swin")(make("Swin", dict(
        image_size=32, patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[1, 2],
        window_size=4)))


_transformers()
_seq2seq()
_vision()


# timm, torchvision, diffusers

def _timm():
    def make(name, **settings):
        def build():
            import timm
            size = settings.get("img_size", 32)
            module = timm.create_model(name, num_classes=3, **settings).train()
            return module, F.cross_entropy, [images(size)], [torch.tensor([0, 2])]
        program("timm/" + name)(build)
    for name in ("vit_tiny_patch16_224", "deit_tiny_patch16_224", "eva02_tiny_patch14_224",
                 "beit_base_patch16_224", "mixer_s32_224", "gmixer_12_224", "resmlp_12_224",
                 "gmlp_ti16_224", "xcit_nano_12_p16_224", "cait_xxs24_224",
                 "crossvit_tiny_240", "twins_svt_small", "swin_tiny_patch4_window7_224",
                 "volo_d1_224", "vit_tiny_r_s16_p8_224", "pit_ti_224", "visformer_tiny",
                 "convnext_atto", "resnet18", "mobilenetv3_small_050", "tnt_s_patch16_224",
                 "coat_tiny", "poolformer_s12", "convmixer_768_32", "levit_128s"):
        settings = {}
        if name not in ("twins_svt_small", "convnext_atto", "resnet18",
                        "mobilenetv3_small_050", "poolformer_s12", "convmixer_768_32"):
            settings = dict(img_size={"crossvit_tiny_240": 240, "eva02_tiny_patch14_224": 28,
                                      "swin_tiny_patch4_window7_224": 56,
                                      "volo_d1_224": 64, "coat_tiny": 64, "levit_128s": 64,
                                      "pit_ti_224": 64}.get(name, 32))
        make(name, **settings)


def _torchvision():
    def make(name, size=32, **settings):
        def build():
            import torchvision
            module = getattr(torchvision.models, name)(weights=None, num_classes=3,
                                                       **settings).train()
            return module, F.cross_entropy, [images(size)], [torch.tensor([0, 2])]
        program("torchvision/" + name)(build)
    make("vit_b_32", image_size=32)
    make("swin_t")
    make("resnet18")
    make("mobilenet_v3_small")
    make("convnext_tiny")
    make("squeezenet1_1", size=64)

    def mlp_of():
        import torchvision
        module = torchvision.ops.MLP(8, [16, 3], norm_layer=nn.LayerNorm, dropout=0.0)
        return module, F.mse_loss, [torch.randn(4, 8)], [torch.randn(4, 3)]
    program("torchvision/ops.MLP")(mlp_of)
    for name in ("sigmoid_focal_loss",):
        def build(name=name):
            import torchvision
            loss = getattr(torchvision.ops, name)
            return nn.Linear(8, 3), lambda y, t: loss(y, t, reduction="mean"), \
                [torch.randn(4, 8)], [torch.rand(4, 3).round()]
        program("torchvision/ops." + name)(build)


def _diffusers():
    def transformer(kind, inputs, part=lambda out: out.sample, **settings):
        def build():
            import diffusers
            module = getattr(diffusers, kind)(**settings).eval()  # DiT drops labels else
            names, values = zip(*inputs())
            taken = Called(module, names, part)
            with torch.no_grad():
                shape = taken(*values).shape
            return taken, F.mse_loss, list(values), [torch.randn(shape)]
        program("diffusers/" + kind)(build)
    time = lambda: ("timestep", torch.tensor([3, 500]))  # noqa: E731
    transformer("DiTTransformer2DModel", lambda: [
        ("hidden_states", torch.randn(2, 4, 8, 8)), time(),
        ("class_labels", torch.tensor([0, 1]))],
        num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=4,
        num_layers=2, sample_size=8, patch_size=2, num_embeds_ada_norm=10)
    transformer("PixArtTransformer2DModel", lambda: [
        ("hidden_states", torch.randn(2, 4, 8, 8)),
        ("encoder_hidden_states", torch.randn(2, 5, 16)), time()],
        num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=4,
        num_layers=2, sample_size=8, patch_size=2, cross_attention_dim=16,
        caption_channels=16, use_additional_conditions=False)
    transformer("SD3Transformer2DModel", lambda: [
        ("hidden_states", torch.randn(2, 4, 8, 8)),
        ("encoder_hidden_states", torch.randn(2, 5, 16)),
        ("pooled_projections", torch.randn(2, 16)), time()],
        sample_size=8, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=8,
        num_attention_heads=2, joint_attention_dim=16, caption_projection_dim=16,
        pooled_projection_dim=16, out_channels=4)
    transformer("FluxTransformer2DModel", lambda: [
        ("hidden_states", torch.randn(2, 16, 4)),
        ("encoder_hidden_states", torch.randn(2, 5, 16)),
        ("pooled_projections", torch.randn(2, 16)), time(),
        ("img_ids", torch.zeros(16, 3)), ("txt_ids", torch.zeros(5, 3))],
        patch_size=1, in_channels=4, num_layers=1, num_single_layers=1,
        attention_head_dim=8, num_attention_heads=2, joint_attention_dim=16,
        pooled_projection_dim=16, axes_dims_rope=(2, 2, 4))
    transformer("PriorTransformer", lambda: [
        ("hidden_states", torch.randn(2, 8)), time(),
        ("proj_embedding", torch.randn(2, 8)),
        ("encoder_hidden_states", torch.randn(2, 5, 8))],
        lambda out: out.predicted_image_embedding, num_attention_heads=2,
        attention_head_dim=8, num_layers=1, embedding_dim=8, num_embeddings=5,
        additional_embeddings=4)
    transformer("UNet1DModel", lambda: [("sample", torch.randn(2, 2, 64)), time()],
                sample_size=64, in_channels=2, out_channels=2, extra_in_channels=64,
                block_out_channels=(32, 32, 32), norm_num_groups=2)


def _lucidrains():
    def language(name, **settings):
        def build():
            import x_transformers as xt
            module = xt.AutoregressiveWrapper(xt.TransformerWrapper(
                num_tokens=WORDS, max_seq_len=32,
                attn_layers=xt.Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **settings)))
            return module.train(), first, [tokens()], []
        program("x-transformers/" + name)(build)
    for name, settings in {
            "plain": {}, "rotary": {"rotary_pos_emb": True}, "xpos": {"rotary_xpos": True},
            "alibi": {"alibi_pos_bias": True}, "T5 bias": {"rel_pos_bias": True},
            "GLU": {"ff_glu": True, "ff_swish": True}, "RMS norm": {"use_rmsnorm": True},
            "scale norm": {"use_scalenorm": True}, "multi-query": {"attn_one_kv_head": True},
            "gated": {"attn_gate_values": True}, "q k norm": {"attn_qk_norm": True},
            "sandwich": {"sandwich_norm": True}, "shift": {"shift_tokens": 1},
            "hyper": {"num_residual_streams": 2}, "macaron": {"macaron": True},
            "talking heads": {"attn_pre_talking_heads": True},
            "squared ReLU": {"ff_relu_squared": True}}.items():
        language(name, **settings)

    def vision(module_name, kind, **settings):
        def build():
            import importlib
            module = getattr(importlib.import_module("vit_pytorch." + module_name), kind)(
                num_classes=3, **settings).train()
            return module, F.cross_entropy, [images()], [torch.tensor([0, 2])]
        program("vit-pytorch/" + kind)(build)
    plain = dict(image_size=32, patch_size=8, dim=16, depth=2, heads=2, mlp_dim=32)
    for module_name, kind in {"vit": "ViT", "simple_vit": "SimpleViT", "deepvit": "DeepViT",
                              "parallel_vit": "ViT", "vit_for_small_dataset": "ViT",
                              "simple_vit_with_register_tokens": "SimpleViT",
                              "simple_vit_with_qk_norm": "SimpleViT",
                              "simple_vit_with_fft": "SimpleViT",
                              "learnable_memory_vit": "ViT", "normalized_vit": "nViT",
                              "vit_with_patch_dropout": "ViT"}.items():
        settings = dict(plain)
        if module_name == "simple_vit_with_fft":
            settings["freq_patch_size"] = 8
        if module_name == "normalized_vit":
            settings["dim_head"] = 8
            settings["mlp_dim"] = 32

        def build(module_name=module_name, kind=kind, settings=settings):
            import importlib
            made = getattr(importlib.import_module("vit_pytorch." + module_name), kind)(
                num_classes=3, **settings).train()
            return made, F.cross_entropy, [images()], [torch.tensor([0, 2])]
        program("vit-pytorch/" + module_name)(build)
    vision("cait", "CaiT", image_size=32, patch_size=8, dim=16, depth=2, cls_depth=1,
           heads=2, mlp_dim=32)
    vision("t2t", "T2TViT", image_size=32, dim=16, depth=1, heads=2, mlp_dim=32,
           t2t_layers=((3, 2), (3, 2)))
    vision("cross_vit", "CrossViT", image_size=32, sm_dim=8, lg_dim=16, sm_patch_size=8,
           lg_patch_size=16, depth=1)
    vision("pit", "PiT", image_size=32, patch_size=8, dim=16, depth=(1, 1), heads=2,
           mlp_dim=32)
    vision("xcit", "XCiT", image_size=32, patch_size=8, dim=16, depth=1, cls_depth=1,
           heads=2, mlp_dim=32)
    vision("crossformer", "CrossFormer", dim=(32, 32, 32, 32), depth=(1, 1, 1, 1),
           global_window_size=(2, 2, 1, 1), local_window_size=(2, 2, 2, 1))


_timm()
_torchvision()
_diffusers()
_lucidrains()
